"""How much words look at [SEP] in the best heads equals a count word by word."""

from dataclasses import replace

import numpy as np
import pytest

from headtypes.analyses.relations.accuracy import GROUPS, BestHeads, measure_relations
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.data.kinds.treebank import Sentence
from tests.support.demo import demo_rows

BANK = demo_rows("treebank", 60)
# Of each, the head that finds it: subjects and objects from the dependent, determiners from what they belong to.
FOUND = {"nsubj": (0, 0), "obj": (0, 1), "det": (1, 1)}
LENGTH = np.array([len(each.words) for each in BANK], np.int32)


def looking(sentence: Sentence, relation: str, direction: str) -> set[int]:
    """The words, from 0, that look at the other word of a relation."""
    ends = {(word, head - 1) for word, (head, label) in enumerate(zip(sentence.heads, sentence.relations, strict=True))
            if label == relation}  # fmt: skip
    return {pair[DIRECTIONS.index(direction)] for pair in ends}


def direction_of(relation: str) -> str:
    return DIRECTIONS[relation == "det"]


def planted() -> ArcGuesses:
    """Heads that find relations of `FOUND`, and random shares to [SEP]."""
    guess = np.full((LENGTH.sum(), 2, 8, 2), -1, np.int16)
    to_sep = np.random.default_rng(3).random((len(guess), 2, 8)).astype(np.float16)
    # What cannot see [SEP].
    to_sep[::7] = np.nan
    arcs = ((head, label) for sentence in BANK for head, label in zip(sentence.heads, sentence.relations, strict=True))
    for word, (head, label) in enumerate(arcs):
        if label in FOUND:
            guess[(word, *FOUND[label], DIRECTIONS.index(direction_of(label)))] = head
    visible = np.tile(np.array([1, 99], np.int16), (len(guess), 2, 2, 1))
    return ArcGuesses(np.arange(len(BANK), dtype=np.int32), LENGTH, guess, visible, to_sep)


def counted(relation: str, to_sep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums and numbers of words, [sentence, group], word by word."""
    sums, sizes = np.zeros((2, len(BANK), len(GROUPS)))
    values = iter(to_sep[(slice(None), *FOUND[relation])].tolist())
    for number, sentence in enumerate(BANK):
        call = looking(sentence, relation, direction_of(relation))
        for word, tag in enumerate(sentence.upos):
            value, is_noun = next(values), tag in ("NOUN", "PROPN")
            if np.isnan(value):
                continue
            for group, belongs in enumerate(
                (word in call, word not in call, not is_noun, not is_noun and tag != "PRON")
            ):
                sums[number, group] += value * belongs
                sizes[number, group] += belongs
    return sums, sizes


def elsewhere(parts: dict, arcs: dict, relation: str) -> tuple[BestHeads, int]:
    """Best heads that are scored where they were not chosen, and the row of a relation."""
    _, best = measure_relations(parts, arcs, least=5).sums.values()
    return best, [*zip(best.annotation, best.relation, strict=True)].index(("universal", relation))


@pytest.mark.parametrize("test", [True, False], ids=["test", "halves"])
@pytest.mark.parametrize("relation", FOUND)
def test_words_of_each_group_are_counted(relation, test):
    arcs = planted()
    parts = {"file": BANK} | ({"test": BANK} if test else {})
    # What [SEP] gets on the file decides nothing but whether the head looks at it.
    on_file = replace(arcs, to_sep=arcs.to_sep / 2) if test else arcs
    best, row = elsewhere(parts, {"file": on_file} | ({"test": arcs} if test else {}), relation)
    sums, sizes = counted(relation, arcs.to_sep)
    np.testing.assert_allclose(best.to_sep[:, row], sums)
    np.testing.assert_array_equal(best.to_sep_words[:, row], sizes)
    layers_heads = [[*FOUND[relation], int(relation == "det")]] * (1 if test else 2)
    assert best.chosen[row, :, :3].tolist() == layers_heads
    of_words, odd = (
        on_file.to_sep[(slice(None), *FOUND[relation])].astype(float),
        np.repeat(arcs.sentence % 2, LENGTH) > 0,
    )
    halves = [np.ones_like(odd)] if test else [odd, ~odd]
    assert best.of_best(best.looks)[row] == pytest.approx([np.nanmean(of_words[half]) for half in halves])
    pairs = [
        (number % 2, head - 1 - word)
        for number, sentence in enumerate(BANK)
        for word, (head, label) in enumerate(zip(sentence.heads, sentence.relations, strict=True))
        if label == relation
    ]
    leads = []
    for parity in ((0, 1),) if test else ((1,), (0,)):
        offsets = [offset for at, offset in pairs if at in parity]
        leads.append(100 - 100 * max(offsets.count(it) for it in range(-3, 4)) / len(offsets))
    assert best.of_best(best.leads)[row] == pytest.approx(leads)
    is_odd = np.arange(len(BANK)) % 2 > 0
    for fold, scored in enumerate([slice(None)] if test else [~is_odd, is_odd]):
        called, others = (sums[scored, group].sum() / sizes[scored, group].sum() for group in (0, 1))
        assert best.of_best(best.rises)[row, fold] == pytest.approx(others - called)
        # No other head beats the offset.
        assert np.argwhere(best.leads[row, fold] > 0).tolist() == [list(FOUND[relation])]


def test_halves_that_choose_differently_are_looked_at_with_the_head_of_the_other():
    """Objects are found by one head in the sentences of odd index, and by another in those of even index."""
    arcs, odd = planted(), np.repeat(np.arange(len(BANK)) % 2, LENGTH) > 0
    guess, at = arcs.guess.copy(), FOUND["obj"]
    guess[~odd, 1, 0], guess[~odd, at[0], at[1]] = guess[~odd, at[0], at[1]], -1
    arcs = replace(arcs, guess=guess)
    best, row = elsewhere({"file": BANK}, {"file": arcs}, "obj")
    table = measure_relations({"file": BANK}, {"file": arcs}, least=5).best
    rows = table.query("annotation == 'universal' and relation == 'obj'").set_index("chosen")
    assert rows["head"].isna().to_dict() == {"file": False, "halves": True}
    # Each half is scored with the head that finds the objects of the other.
    assert rows.loc["halves", "accuracy"] == 0 < rows.loc["file", "accuracy"]
    assert best.chosen[row, :, :2].tolist() == [list(at), [1, 0]]
    of_odd, of_even = (arcs.to_sep[:, layer, head].astype(float) for layer, head in (at, (1, 0)))
    looks = np.nanmean(of_odd[odd]), np.nanmean(of_even[~odd])
    assert best.of_best(best.looks)[row] == pytest.approx(looks)
    words = best.to_sep[:, row, :2].sum(1)
    assert words[::2].sum() == pytest.approx(np.nansum(of_odd[~odd]))
    assert words[1::2].sum() == pytest.approx(np.nansum(of_even[odd]))


def test_the_table_of_best_heads_says_how_much_its_words_look():
    arcs = planted()
    table = measure_relations({"file": BANK}, {"file": arcs}, least=5).best
    row = table.query("annotation == 'universal' and relation == 'obj' and chosen == 'file'").iloc[0]
    sums, sizes = (each.sum(0) for each in counted("obj", arcs.to_sep))
    for group, name in enumerate(("to_sep", "to_sep_others")):
        assert row[name] == pytest.approx(100 * sums[group] / sizes[group])
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    everything = table.query("relation == 'all' and chosen == 'file'").iloc[0]
    # No other words are left.
    assert everything["direction"] == DIRECTIONS[0]
    assert everything[["to_sep_others", "to_sep_others_low"]].isna().all()
