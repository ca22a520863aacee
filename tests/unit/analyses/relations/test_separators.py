"""How much words look at [SEP] in the best heads equals a count word by word, and decides what the paper says of it."""

from dataclasses import replace

import numpy as np
import pytest

from headtypes.analyses.relations.accuracy import GROUPS, best_heads, measure_relations
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.data.kinds.treebank import Sentence
from headtypes.papers.claims import judge
from headtypes.papers.clark2019.language.claims import of_relations
from headtypes.papers.clark2019.language.quantities import treebank_quantities
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, OPEN
from tests.support.demo import demo_rows
from tests.support.language_results import PUBLISHED

BANK = demo_rows("treebank", 60)
CLAIMS = {claim.id: claim for claim in of_relations}
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


def planted(called: float | None, others: float = 0.0) -> ArcGuesses:
    """Heads that find relations of `FOUND`; shares to [SEP] of words that call for them and of others; or random."""
    guess = np.full((LENGTH.sum(), 2, 8, 2), -1, np.int16)
    to_sep = np.random.default_rng(3).random((len(guess), 2, 8)).astype(np.float16)
    # What cannot see [SEP].
    to_sep[::7] = np.nan
    start = 0
    for sentence in BANK:
        for relation, at in FOUND.items():
            direction = direction_of(relation)
            for word, (head, label) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
                if label == relation:
                    guess[(start + word, *at, DIRECTIONS.index(direction))] = head
            if called is not None:
                of_head = to_sep[(slice(start, start + len(sentence.words)), *at)]
                of_head[:] = others
                of_head[list(looking(sentence, relation, direction))] = called
        start += len(sentence.words)
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


@pytest.mark.parametrize("test", [True, False], ids=["test", "halves"])
@pytest.mark.parametrize("relation", FOUND)
def test_words_of_each_group_are_counted(relation, test):
    arcs = planted(None)
    parts = {"file": BANK} | ({"test": BANK} if test else {})
    # What [SEP] gets on the file decides nothing but whether the head looks at it.
    on_file = replace(arcs, to_sep=arcs.to_sep / 2) if test else arcs
    _, elsewhere = best_heads(parts, {"file": on_file} | ({"test": arcs} if test else {}), least=5, offsets=3)
    (index,) = (n for n, row in enumerate(elsewhere.rows) if list(row.values())[:2] == ["universal", relation])
    found = elsewhere.to_sep[index]
    sums, sizes = counted(relation, arcs.to_sep)
    np.testing.assert_allclose(found.sums, sums)
    np.testing.assert_array_equal(found.sizes, sizes)
    assert found.is_forward == (relation != "det")
    of_words, odd = (
        on_file.to_sep[(slice(None), *FOUND[relation])].astype(float),
        np.repeat(arcs.sentence % 2, LENGTH) > 0,
    )
    halves = [np.ones_like(odd)] if test else [odd, ~odd]
    assert found.mean == pytest.approx(min(np.nanmean(of_words[half]) for half in halves))
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
    assert found.lead == pytest.approx(min(leads))


def test_halves_that_choose_differently_are_looked_at_with_the_head_of_the_other():
    """Objects are found by one head in the sentences of odd index, and by another in those of even index."""
    arcs, odd = planted(None), np.repeat(np.arange(len(BANK)) % 2, LENGTH) > 0
    guess, at = arcs.guess.copy(), FOUND["obj"]
    guess[~odd, 1, 0], guess[~odd, at[0], at[1]] = guess[~odd, at[0], at[1]], -1
    _, halves = best_heads({"file": BANK}, {"file": replace(arcs, guess=guess)}, least=5, offsets=3)
    (index,) = (n for n, row in enumerate(halves.rows) if list(row.values())[:2] == ["universal", "obj"])
    assert halves.rows[index]["head"] is None
    of_odd, of_even = (arcs.to_sep[:, layer, head].astype(float) for layer, head in (at, (1, 0)))
    assert halves.to_sep[index].mean == pytest.approx(min(np.nanmean(of_odd[odd]), np.nanmean(of_even[~odd])))
    words = halves.to_sep[index].sums[:, :2].sum(1)
    assert words[::2].sum() == pytest.approx(np.nansum(of_odd[~odd]))
    assert words[1::2].sum() == pytest.approx(np.nansum(of_even[odd]))


def test_the_table_of_best_heads_says_how_much_its_words_look():
    arcs = planted(None)
    table = measure_relations({"file": BANK}, {"file": arcs}, least=5, offsets=3, seed=0).best
    row = table.query("annotation == 'universal' and relation == 'obj' and chosen == 'file'").iloc[0]
    sums, sizes = (each.sum(0) for each in counted("obj", arcs.to_sep))
    for group, name in enumerate(("to_sep", "to_sep_others")):
        assert row[name] == pytest.approx(100 * sums[group] / sizes[group])
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    everything = table.query("relation == 'all' and chosen == 'file'").iloc[0]
    # No other words are left.
    assert everything["direction"] == DIRECTIONS[0]
    assert everything[["to_sep_others", "to_sep_others_low"]].isna().all()


@pytest.mark.parametrize(
    ("called", "others", "verdicts"),
    [
        (0.1, 0.8, (HOLDS, HOLDS)),
        (0.9, 0.7, (FAILS, HOLDS)),
        (0.1, 0.33, (HOLDS, FAILS)),
        # All words look alike, so that few sentences tell no more than where most of them may lie.
        (0.1, 0.45, (HOLDS, OPEN)),
        (0.05, 0.1, (NO_VERDICT, FAILS)),
        (np.nan, np.nan, (NO_VERDICT, NO_VERDICT)),
    ],
)
def test_planted_heads_look_at_sep_where_they_are_not_called_for_or_do_not(called, others, verdicts):
    choices = best_heads({"file": BANK}, {"file": planted(called, others)}, least=5, offsets=3)
    quantities = treebank_quantities(choices, None, PUBLISHED, seed=1)
    found = [judge(CLAIMS[name], quantities) for name in ("sep-when-not-called-for", "sep-from-non-nouns")]
    assert tuple(it.verdict for it in found) == verdicts
    assert ("no word can see a [SEP]" in found[0].reason) == np.isnan(called) == ("can see" in found[1].reason)
    if verdicts[0] != NO_VERDICT:
        # Heads without a function look alike from all words; of eight heads in a layer one or two have one.
        assert 0.7 < found[0].findings[0].measured.value / (100 * (others - called)) < 0.9


@pytest.mark.parametrize("test", [True, False], ids=["test", "halves"])
def test_all_heads_are_counted_as_the_best_one_is(test):
    arcs = planted(None)
    parts = {"file": BANK} | ({"test": BANK} if test else {})
    _, elsewhere = best_heads(parts, {"file": arcs} | ({"test": arcs} if test else {}), least=5, offsets=3)
    for row, found in zip(elsewhere.rows, elsewhere.to_sep, strict=True):
        if row["annotation"] != "universal" or row["relation"] not in FOUND:
            continue
        sums, sizes = counted(row["relation"], arcs.to_sep)
        odd = np.arange(len(BANK)) % 2 > 0
        for each, scored in zip(found.of_heads, [slice(None)] if test else [~odd, odd], strict=True):
            called, others = (sums[scored, group].sum() / sizes[scored, group].sum() for group in (0, 1))
            assert each.best == FOUND[row["relation"]]
            assert each.rises[each.best] == pytest.approx(others - called)
            assert each.leads[each.best] == each.leads.max() > 0
            assert (each.leads > 0).sum() == 1
