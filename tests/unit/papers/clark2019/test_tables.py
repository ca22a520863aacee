"""Tables 1 to 3 have what a second computation, straight from the guesses, finds; and the paper's values beside it."""

import re
from collections import Counter

import numpy as np
import pytest

from headtypes.analyses.coreference.accuracy import measure_coreference
from headtypes.analyses.probes.scores import measure_probes
from headtypes.analyses.relations.accuracy import measure_relations
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.core.hdf5_files import write_arrays
from headtypes.papers.clark2019.claims.language import collect_language
from headtypes.papers.clark2019.tables import (
    coreference_page,
    coreference_table,
    probes_page,
    probes_table,
    relations_page,
    relations_table,
)
from tests.support.clark_results import PUBLISHED
from tests.support.demo import demo_rows
from tests.unit.analyses.coreference.test_coreference import ANAPHORS, DOCUMENTS, guesses_of

KEY = ("minilm", "told")
SENTENCES = demo_rows("treebank", 60)
LAYERS, HEADS = 2, 3
PLACES = [(layer, head, place) for layer in range(LAYERS) for head in range(HEADS) for place in range(2)]
OFFSETS = (-3, -2, -1, 1, 2, 3)


def guessed() -> ArcGuesses:
    rng, guesses = np.random.default_rng(5), []
    for sentence in SENTENCES:
        words = len(sentence.words)
        guess = rng.integers(1, words + 1, (words, LAYERS, HEADS, 2)).astype(np.int16)
        for word, (head, label) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if label == "obj":
                guess[word, 1, 2, 1] = head
        guesses.append(guess)
    length = np.array([len(sentence.words) for sentence in SENTENCES], np.int32)
    visible = np.empty((length.sum(), LAYERS, 2, 2), np.int16)
    visible[..., 0], visible[..., 1] = 1, np.repeat(length, length)[:, None, None]
    to_sep = np.zeros((length.sum(), LAYERS, HEADS), np.float16)
    return ArcGuesses(np.arange(len(SENTENCES), dtype=np.int32), length, np.concatenate(guesses), visible, to_sep)


ARCS = guessed()
_, BEST, SUMS = measure_relations({"file": SENTENCES}, {"file": ARCS}, least=5)
# The paper's names and the treebank's.
LABELS = [("all", "all"), ("det", "det"), ("dobj", "obj"), ("nsubj", "nsubj")]


def counted(label: str) -> tuple[int, tuple[int, int, int], float, int, float]:
    right, of_offset, words, place = Counter(), Counter(), 0, 0
    for sentence in SENTENCES:
        for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True), start=1):
            if label in ("all", relation):
                words += 1
                for head_place in PLACES:
                    right[head_place] += ARCS.guess[place][head_place] == head
                for offset in OFFSETS:
                    of_offset[offset] += 1 <= word + offset <= len(sentence.words) and word + offset == head
            place += 1
    best = max(PLACES, key=lambda it: right[it])
    offset = max(OFFSETS, key=lambda it: of_offset[it])
    return words, best, 100 * right[best] / words, offset, 100 * of_offset[offset] / words


@pytest.mark.parametrize(("paper", "label"), LABELS)
def test_table_1_has_the_best_heads_and_offsets_beside_the_papers(paper, label):
    table = relations_table({KEY: BEST}, {"minilm"}, PUBLISHED)
    row = table[(table["paper"] == paper) & (table["scored"] == "file")].iloc[0]
    words, (layer, head, place), accuracy, offset, of_offset = counted(label)
    assert row["words"] == words
    assert (row["head"], row["direction"]) == (f"{layer + 1}-{head + 1}", DIRECTIONS[place])
    assert row["accuracy"] == pytest.approx(accuracy)
    assert (row["offset"], row["offset_accuracy"]) == (offset, pytest.approx(of_offset))
    assert row["above_offset"] == pytest.approx(accuracy - of_offset)
    assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
    theirs = next(it for it in PUBLISHED.relations.rows if it.relation == paper)
    columns = ["published_head", "published_accuracy", "published_offset", "published_baseline"]
    assert row[columns].tolist() == [theirs.head, theirs.accuracy, theirs.offset, theirs.baseline]
    page = relations_page(table, PUBLISHED)
    ends = f"[{row['accuracy_low']:.1f}, {row['accuracy_high']:.1f}]"
    assert re.search(rf"^\| {row['relation']} \| {words} \| .* \| {accuracy:.1f} {re.escape(ends)} \|", page, re.M)
    if paper == "dobj":
        assert (row["head"], row["direction"], row["accuracy"]) == ("2-3", "head_to_dependent", 100)


def test_table_1_has_both_ways_and_the_papers_order():
    table = relations_table({KEY: BEST}, set(), PUBLISHED)
    ways = Counter(zip(table["chosen"], table["scored"], strict=True))
    assert ways["file", "file"] == ways["halves", "halves"] == len(table) / 2
    # Beside another model nothing is published.
    assert table["published_accuracy"].isna().all()
    named = [name for name in table["paper"] if name][::2]
    assert named == [row.relation for row in PUBLISHED.relations.rows if row.relation in named]
    page = relations_page(table, PUBLISHED)
    assert "### Published" not in page
    assert "nan" not in page.lower()


def antecedents():
    last = ANAPHORS[-1][-1]
    return guesses_of(lambda anaphor: -1 if anaphor == last else min(anaphor.antecedents))


def test_table_2_names_the_reading_of_every_number():
    accuracies, _ = measure_coreference(DOCUMENTS, antecedents())
    table = coreference_table({KEY: accuracies}, {"minilm"}, PUBLISHED)
    mentions = sum(map(len, ANAPHORS))
    best = table[(table["system"] == "best_head") & (table["type"] == "all") & (table["chosen"] == "documents")]
    assert list(best["candidates"]) == ["words", "words_before", "mentions"]
    assert best["accuracy"].tolist() == pytest.approx([100 * (mentions - 1) / mentions] * 3)
    assert set(best["head"]) == {"1-1"}
    assert best["published"].tolist() == [65, 65, 65]
    nearest = table[(table["system"] == "nearest") & (table["type"] == "all")].iloc[0]
    # The nearest candidate of each mention, by hand: Bob, Ann; she, him; she, him; dog; cat.
    right = [max(it.candidates, key=lambda one: one.head).entity == it.mention.entity for of in ANAPHORS for it in of]
    assert [nearest["accuracy"], nearest["published"]] == pytest.approx([100 * np.mean(right), 27])
    page = coreference_page(table, PUBLISHED)
    assert "| best head | all other words | as in the paper | 1-1 | 83.3 |" in page
    assert f"{mentions} mentions with an antecedent (3 pronoun, 1 proper, 2 nominal), in 3 documents." in page
    assert "nan" not in page.lower()


def probed() -> dict:
    words = [sum(label != "punct" for label in sentence.relations) for sentence in SENTENCES]
    shares = {"attention": 0.6, "attention_and_words": 0.8, "distance_and_words": 0.5, "random_network": 0.1}
    return {
        "right": {name: [[int(n * it) for n in words] for it in (share, share / 2)] for name, share in shares.items()},
        "words": words,
        "scored": {"read": len(SENTENCES), "left_out": 0},
        "training": {"read": 40, "left_out": 1},
        "vectors": {"channels": 3, "known": 0.875},
    }


def test_table_3_has_means_and_ranges_of_the_starts():
    probes = probed()
    scores, _ = measure_probes(probes, SENTENCES, ARCS)
    table = probes_table({KEY: scores}, {KEY: probes}, {"minilm"}, PUBLISHED)
    rows, words = table.set_index("system"), sum(probes["words"])
    for name, of_start in probes["right"].items():
        by_start = [100 * sum(of_sentence) / words for of_sentence in of_start]
        found = rows.loc[name, ["uas", "least", "most", "starts"]].tolist()
        assert found == pytest.approx([np.mean(by_start), *sorted(by_start), 2])
    branching = sum(
        head == word + 1 and label != "punct"
        for sentence in SENTENCES
        for word, (head, label) in enumerate(zip(sentence.heads, sentence.relations, strict=True), start=1)
    )
    assert rows.loc["right_branching", "uas"] == pytest.approx(100 * branching / words)
    assert rows.loc["attention_and_words", "published"] == 77
    page, row = probes_page(table, PUBLISHED), rows.loc["attention"]
    assert "Learned from 40 sentences, scored on 60; 87.5 % of the scored words have a vector." in page
    shown = f"| attention | {row['uas']:.1f} [{row['low']:.1f}, {row['high']:.1f}] | 2: {row['least']:.2f} to "
    assert f"{shown}{row['most']:.2f} | 61 |" in page
    alone = probes_page(probes_table({KEY: scores}, {KEY: probes}, set(), PUBLISHED), PUBLISHED)
    assert "| published |" not in alone


def lead_elsewhere(label: str) -> float:
    """By how many points the best head of each half of the sentences beats its best offset, in the other half."""
    length = ARCS.length
    heads, labels = (np.concatenate([getattr(it, name) for it in SENTENCES]) for name in ("heads", "relations"))
    word = np.concatenate([np.arange(1, words + 1) for words in length])
    odd, kept = np.repeat(np.arange(len(length)) % 2, length), (labels == label) | (label == "all")
    guesses = np.column_stack([ARCS.guess.reshape(len(word), -1), *(word + offset for offset in OFFSETS)])
    inside = (guesses > 0) & (guesses <= np.repeat(length, length)[:, None])
    right = inside & (guesses == heads[:, None])
    by_head, by_offset = np.split(right, [len(PLACES)], axis=1)
    leads = np.zeros(len(word))
    for half in (0, 1):
        best, offset = (some[kept & (odd == half)].sum(0).argmax() for some in (by_head, by_offset))
        leads += (odd != half) * (by_head[:, best].astype(int) - by_offset[:, offset])
    return 100 * leads[kept].mean()


def test_claims_are_judged_on_the_sums_that_are_kept(tmp_path):
    scores, right = measure_probes(probed(), SENTENCES, ARCS)
    write_arrays(tmp_path / "relations.h5", SUMS, {})
    write_arrays(tmp_path / "probes.h5", right, {})
    table, right = measure_coreference(DOCUMENTS, antecedents())
    write_arrays(tmp_path / "coreference.h5", right, {})
    keys = {"relations": KEY, "probes": KEY, "coreference": ("minilm", "stories")}
    found = {name: {key: tmp_path / f"{name}.h5"} for name, key in keys.items()}
    trees, documents = collect_language(found, PUBLISHED).values()
    for row in table[table["system"].isin(["best_head", "nearest"]) & (table["chosen"] != "halves")].itertuples():
        candidates = f".{row.candidates}" * (row.system == "best_head")
        value = documents[f"coreference.{row.system}{candidates}.{row.type}"]
        assert (value.value, value.low, value.high) == pytest.approx((row.accuracy, row.low, row.high), nan_ok=True)
    assert documents["n_mentions"].value == sum(map(len, ANAPHORS))
    table = relations_table({KEY: BEST}, set(), PUBLISHED).query("scored == 'file'").set_index("paper")
    for paper, label in LABELS:
        *_, accuracy, _, of_offset = counted(label)
        values = [trees[f"relation.{paper}.{statistic}"].value for statistic in ("accuracy", "baseline")]
        assert values == pytest.approx([accuracy, of_offset])
        ends = table.loc[paper, ["accuracy_low", "accuracy_high"]].tolist()
        assert trees[f"relation.{paper}.accuracy"].ends == pytest.approx(ends)
        assert trees.best_head(paper, "lead").measured.value == pytest.approx(lead_elsewhere(label))
    for row in scores[scores["minus"] == ""].itertuples():
        probe = trees[f"probe.{row.system}"]
        assert (probe.value, *probe.ends) == pytest.approx((row.uas, row.low, row.high))
    assert trees["n_sentences"].value == len(SENTENCES)
