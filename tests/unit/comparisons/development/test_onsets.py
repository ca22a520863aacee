"""Since when there is what there is: planted heads, relations and types, and the rates of error that are promised."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.detectors.results import detector_table
from headtypes.analyses.relations.accuracy import measure_relations
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.analyses.types.partitions import write_partition
from headtypes.comparisons.development import onsets as module
from headtypes.comparisons.development.onsets import COLUMNS, find_onsets, interval_ends, read_onsets
from headtypes.core.statistics import sign_tests
from headtypes.core.table_files import write_csv
from tests.support.planted import typed
from tests.support.word_maps import sentence

SEQUENCES = 32
STEPS = (0, 10, 20, 30, 40)
MODELS = {f"m-{step}": step for step in STEPS}


def onsets(above: np.ndarray, steps=STEPS, quantities=("induction",)) -> pd.DataFrame:
    """above: [step, head, sequence] bool, whether each head exceeds the null by more than the least."""
    heads = [(name, 0, head) for name in quantities for head in range(above.shape[1] // len(quantities))]
    tests = {}
    for step, of_step in zip(steps, above, strict=True):
        p, p_not = sign_tests(of_step.sum(1), of_step.shape[1])
        tests[step] = pd.DataFrame(heads, columns=["quantity", "layer", "head"]).assign(p=p, p_not=p_not)
    return find_onsets(tests)


def planted(*heads: str) -> np.ndarray:
    """[step, head, sequence]: at each step whether a head exceeds on all sequences (x), on half (-), or on none (.)."""
    shares = {"x": SEQUENCES, "-": SEQUENCES // 2, ".": 0}
    return np.array(
        [[[number < shares[head[step]] for number in range(SEQUENCES)] for head in heads] for step in range(len(STEPS))]
    )


def test_planted_heads_have_their_onsets_and_intervals():
    table = onsets(planted("..xxx", ".x.xx", ".....", "xxxxx", ".--xx", "x....", "....-", "-----", "--xxx"))
    assert table["head"].tolist() == list(range(9))
    none = pd.NA
    expected = [
        (20, 20, 20, "after step 10, by step 20"),
        # One that flickers is there from the last time on that it comes.
        (30, 30, 30, "after step 20, by step 30"),
        (none, none, none, "not at step 40"),
        (0, 0, 0, "at step 0 already"),
        (30, 10, 30, "after step 0, by step 30"),
        (none, none, none, "not at step 40"),
        (none, 40, none, "unknown, but not before step 40"),
        (none, 0, none, "unknown"),
        (20, 0, 20, "by step 20, and perhaps before step 0"),
    ]
    for row, wanted in zip(table.itertuples(), expected, strict=True):
        for found, value in zip((row.onset, row.low, row.high), wanted[:3], strict=True):
            assert (found is none) if value is none else found == value
        assert row.said == wanted[3]


def test_steps_may_come_in_any_order_and_quantities_keep_theirs():
    above = planted("..xxx", ".....", "xxxxx", ".....")
    table = onsets(above[::-1], STEPS[::-1], quantities=("previous", "induction"))
    assert table["quantity"].tolist() == ["previous"] * 2 + ["induction"] * 2
    assert table["onset"].dropna().tolist() == [20, 0]


def test_without_anything_that_is_tested_there_is_an_empty_table():
    table = read_onsets({"a": 1, "b": 2}, {}, {}, 1)
    assert list(table.columns) == list(COLUMNS)
    assert table.empty


def test_of_detectors_those_are_there_that_the_table_detects(tmp_path):
    """Two heads, of which the second exceeds the null by 0.5 on all sequences from step 20 on."""
    files, found = {}, []
    for model, step in MODELS.items():
        index = pd.MultiIndex.from_product([["first"], range(20), [0], [0, 1]])
        scores = index.to_frame(index=False, name=["detector", "sequence", "layer", "head"]).assign(null=0.1)
        scores["score"] = 0.1 + 0.5 * ((scores["head"] == 1) & (step >= 20))
        found.append(detector_table(scores, least=0.1, seed=1))
        files[model, "random tokens"] = tmp_path / f"{step}.csv"
        write_csv(files[model, "random tokens"], found[-1])
    table = read_onsets(MODELS, {"detectors": files}, {}, 1)
    assert set(zip(*(table[name] for name in ("analysis", "of", "quantity")), strict=True)) == {
        ("detectors", "random tokens", "detector.first")
    }
    assert table["said"].tolist() == ["not at step 40", "after step 10, by step 20"]
    assert [of_step["detected"].tolist() for of_step in found] == [[False, step >= 20] for step in STEPS]


# The subject is one, two or three words before the verb.
BANK = [
    sentence(" ".join(["dogs", *["often"] * (number % 3), "bark"]), (number % 3 + 2,) * (number % 3 + 1) + (0,), labels)
    for number in range(60)
    for labels in [" ".join(["nsubj", *["advmod"] * (number % 3), "root"])]
]


def guesses(*finds: bool) -> ArcGuesses:
    """Of heads that find what each word depends on, or guess the first word, which is right of none."""
    right = np.concatenate([np.array(each.heads) for each in BANK])
    of_heads = np.stack([np.where(found, right, 1) for found in finds], axis=1)
    return ArcGuesses(
        sentence=np.arange(len(BANK), dtype=np.int32),
        length=np.array([len(each.words) for each in BANK], dtype=np.int32),
        guess=np.repeat(of_heads[:, None, :, None], 2, axis=3).astype(np.int16),
        visible=np.tile(np.array([1, 9], dtype=np.int16), (len(right), 1, 2, 1)),
        to_sep=np.zeros((len(right), 1, len(finds)), np.float16),
    )


def test_a_head_has_found_a_relation_since_it_beat_the_best_offset(tmp_path):
    """The first head finds subjects from step 20 on, the second never, and the third but for step 10."""
    files = {"relations": {}, "relations_best": {}}
    for model, step in MODELS.items():
        arcs = guesses(step >= 20, False, step != 10)
        tables = measure_relations({"file": BANK}, {"file": arcs}, least=5, offsets=3, seed=1)
        for name, table in zip(files, tables, strict=True):
            files[name][model, "bank"] = tmp_path / f"{name}-{step}.csv"
            write_csv(files[name][model, "bank"], table)
    table = read_onsets(MODELS, files, {}, 1)
    assert set(table["analysis"]) == {"relations"}
    subjects = table[table["quantity"] == f"accuracy.nsubj.{DIRECTIONS[0]}"]
    assert subjects["head"].tolist() == [0, 1, 2]
    assert subjects["said"].tolist() == ["after step 10, by step 20", "not at step 40", "after step 10, by step 20"]
    assert subjects["onset"].dropna().tolist() == [20, 20]


def partitions(folder, letters: dict[str, str]) -> dict:
    """Files of partitions by model, from the type of each head."""
    columns = {"cluster": 0, "silhouette": 0.0, "near": 0.1, "special": 0.1, "far": 0.1}
    files = {(model, "text-kmeans-k3"): folder / f"{model}.csv" for model in letters}
    for (model, _), path in files.items():
        write_partition(path, typed([list(letters[model])], **columns))
    return files


def test_a_type_is_there_since_more_heads_have_it_than_by_chance(tmp_path):
    """Of three types, the first comes together at step 10, under another name, and both others at step 20."""
    end = "a" * 10 + "b" * 10 + "c" * 10
    letters = {
        "m-0": "abc" * 10,
        "m-10": "b" * 10 + "ac" * 10,
        **{f"m-{step}": end for step in (20, 30)},
        "m-40": end,
    }
    table = read_onsets(MODELS, {}, partitions(tmp_path, letters), 1).set_index("quantity")
    assert table[["layer", "head"]].isna().all(axis=None)
    final = "already of the last type"
    assert table["onset"].to_dict() == {final: 10, f"{final}: a": 10, f"{final}: b": 20, f"{final}: c": 20}
    # That something is not there at all cannot be seen in so few heads.
    assert table["said"][f"{final}: b"] == "by step 20, and perhaps before step 0"


def test_types_that_come_at_random_have_an_onset_in_five_percent(tmp_path, monkeypatch):
    """The last division is not held against itself."""
    monkeypatch.setattr(module, "_PERMUTATIONS", 299)
    rng, steps = np.random.default_rng(3), {"m-0": 0, "m-10": 10}
    found = []
    for training in range(120):
        files = partitions(tmp_path, {model: "".join(rng.choice(list("abc"), 24)) for model in steps})
        found.append(read_onsets(steps, {}, files, training)["high"].notna().any())
    assert np.mean(found) <= 0.05


@pytest.mark.parametrize("share", [0.5, 0.501])
def test_by_chance_alone_few_trainings_have_a_head_with_a_wrong_end(share):
    """At the border of both hypotheses, where errors are likeliest: of all heads at all steps."""
    generator = np.random.default_rng(1)
    trainings, steps, heads = 2000, 8, 12
    wrong = 0
    for _ in range(trainings):
        low, high = interval_ends(*sign_tests(generator.binomial(SEQUENCES, share, (heads, steps)), SEQUENCES))
        # Not of the kind at any step, or at every step.
        wrong += (high < steps).any() if share <= 0.5 else (low > 0).any()
    assert wrong / trainings <= 0.05


def test_intervals_hold_the_true_onsets_of_all_heads_at_once():
    """Heads that appear one after the other, from far below half of the sequences to far above it, and slowly."""
    generator = np.random.default_rng(2)
    trainings, steps, heads = 2000, 8, 12
    true = np.arange(heads) % (steps - 2) + 1
    share = np.clip(0.5 + 0.12 * (np.arange(steps) - true[:, None] + 0.5), 0, 1)
    held, known = 0, []
    for _ in range(trainings):
        low, high = interval_ends(*sign_tests(generator.binomial(SEQUENCES, share, (heads, steps)), SEQUENCES))
        held += ((low <= true) & (true <= high)).all()
        known.append(((low > 0) & (high < steps)).mean())
    assert held / trainings >= 0.95
    # It is not by saying nothing.
    assert np.mean(known) > 0.3
