"""Ours beside the published: every figure in its row, verdicts first, doubt and contradictions where they belong."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.types.names import MIXTURES, TYPES
from headtypes.analyses.types.partitions import Partition
from headtypes.papers.guan2020.comparison import CLAIMS, COLUMNS, compare_with_guan, comparison_page
from headtypes.papers.guan2020.published import Guan2020
from headtypes.papers.guan2020.quantities import collect_quantities, published_stability
from headtypes.papers.guan2020.tables import ablation_table, stability_table
from headtypes.papers.published import read_published
from tests.support.places import GUAN
from tests.support.planted import typed

REFERENCE = read_published(GUAN, Guan2020)
KEY = ("bert", "squad-kmeans-k4")

# [layer, head]: dense first, dense_vertical in the middle and most, vertical last and fewest, diagonal throughout.
LIKE_THE_PAPER = [["dense"] * 5 + ["diagonal"] * 2] * 2 + [["dense_vertical"] * 6 + ["diagonal"]] * 2
LIKE_THE_PAPER += [["vertical"] * 3 + ["dense_vertical"] + ["diagonal"] * 3] * 2


SPECIAL = {"dense": 0.1, "diagonal": 0.3, "dense_vertical": 0.45, "vertical": 0.8}
CHOICE = {f"stability.{k}.{half}": 96.0 for k in (3, 5) for half in ("heads", "samples", "pairs")}
CHOICE |= {"gap": 0.2, "gap_error": 0.05}
CHOICE |= {f"mixture_agreement.{covariance}": 0.8 for covariance in MIXTURES.values()}

# What fine-tuning made of it: the last layers change, and dense_vertical heads leave the last.
PARENT = [
    *LIKE_THE_PAPER[:4],
    ["diagonal"] * 2 + ["vertical", "dense_vertical"] + ["diagonal"] + ["vertical"] * 2,
    ["vertical"] * 4 + ["diagonal"] * 3,
]
PAIRS = [*LIKE_THE_PAPER[:5], ["vertical"] * 4 + ["diagonal"] * 3]
SQUAD = [*LIKE_THE_PAPER[:5], ["dense_vertical"] * 6 + ["diagonal"]]


def partition(types: list[list[str]], doubtful: tuple[str, ...] = ()) -> Partition:
    return typed(types, doubtful, special=[SPECIAL.get(name, 0.5) for names in types for name in names])


def ablations(partitions: dict, scores: dict[int, tuple[float, float]], key=KEY, questions: int = 1000) -> pd.DataFrame:
    """The table of the paper's conditions with these scores (exact match and F1), by number."""
    rows = [
        {
            "model": key[0],
            "partition": key[1],
            "condition": f"condition {number}",
            "operations": condition.operations,
            "published": "squad",
        }
        for number, condition in ((each.id, each) for each in REFERENCE.conditions)
        if number in scores
    ]
    metrics = [{"exact_match": exact_match, "f1": f1, "n_questions": questions} for exact_match, f1 in scores.values()]
    return ablation_table(rows, partitions, metrics, REFERENCE, intervals={}, controls={})


def stabilities(partitions: dict, published: str | None = "squad", lowest: float = 95.5) -> pd.DataFrame:
    rows = [{"model": model, "partition": name, "published": published} for model, name in partitions]
    halves = ("heads", "samples", "pairs")
    figures = {half: {"all_agree": lowest + n, "pairwise": lowest + 1 + n} for n, half in enumerate(halves)}
    stability = [{**figures, "own_cluster": 88.0, "gap": None}] * len(rows)
    return stability_table(rows, list(partitions.values()), stability, REFERENCE)


def published(**changed: tuple[float, float]) -> dict[int, tuple[float, float]]:
    scores = {each.id: (each.exact_match, each.f1) for each in REFERENCE.conditions}
    return scores | {int(name[1:]): figures for name, figures in changed.items()}


def compare(partitions: dict, table: pd.DataFrame, **more) -> pd.DataFrame:
    of_stability = stabilities(partitions)
    quantities = collect_quantities(partitions, table, of_stability, REFERENCE, more.pop("intervals", {}), **more)
    return compare_with_guan(quantities, published_stability(of_stability, partitions), REFERENCE)


def of_one(scores: dict[int, tuple[float, float]], **more) -> pd.DataFrame:
    """The comparison of a partition that is as the paper says, with these scores."""
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    return compare(partitions, ablations(partitions, scores), **more)


def around(scores: dict[int, tuple[float, float]], width: float):
    """Intervals of a fixed width, by the names that the conditions have in `ablations`."""

    def interval(weights, metric, for_claim):
        place = ("exact_match", "f1").index(metric)
        value = sum(weight * scores[int(name.removeprefix("condition "))][place] for name, weight in weights.items())
        return value, value - width, value + width

    return interval


def claims(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["kind"] == "claim"].set_index("id")


def figures(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["kind"] == "figure"].set_index("id")


def beside() -> dict:
    """What is known of other models and clusterings, with which every claim holds."""
    family = {"pre-trained": SQUAD, "squad": SQUAD, "mrpc": PAIRS, "mnli": PAIRS}
    return {
        "choices": {KEY: CHOICE},
        "parents": {KEY: partition(PARENT)},
        "families": {KEY: {name: partition(types) for name, types in family.items()}},
    }


@pytest.fixture(scope="module")
def like_the_paper():
    return of_one(published(), intervals={KEY: around(published(), 0.5)}, **beside())


def test_a_table_that_breaks_a_claim_names_it():
    table = of_one(published(c3=(40, 50)))
    row = claims(table).loc["zero-diagonal-breaks"]
    numbers = row[["ours", "published", "difference"]].tolist()
    assert numbers == pytest.approx([40 - 82.85 / 10, 4.59 - 82.85 / 10, 40 - 4.59])
    assert claims(table).query("verdict == 'fails'").index.tolist() == ["zero-diagonal-breaks"]
    page = comparison_page(table, REFERENCE)
    # 40 of 82.85 are left, 48.3 percent; the value ends in a 5 that floats miss.
    same = "(the same for limits from 0 to 48 % of the baseline's)"
    decides = f"exact match with zero diagonal less 10 % of the baseline's: 31.71; claimed below 0 {same}"
    assert f"| zero-diagonal-breaks | fails |  |  |  | {decides} |  |" in page
    # Every claim is listed once, with the paper's words.
    words = "Without its diagonal heads the model hardly answers anything. | section 5.1, Table 2 |"
    assert page.count(f"| zero-diagonal-breaks | stated | {words}") == 1


def test_the_figures_of_a_claim_are_those_of_the_rule_that_decides():
    row = claims(of_one(published(c4=(2, 4)))).loc["zero-diagonal-costliest"]
    assert row["verdict"] == "fails"
    assert row[["ours", "published"]].tolist() == pytest.approx([2 - 4.59, 73.33 - 4.59])


def test_models_and_tasks_are_kept_apart():
    """Partitions of one name; and sentence pairs, whose F1 is not that of answers."""
    other, pairs = ("roberta", KEY[1]), ("pairs", KEY[1])
    partitions = dict.fromkeys((KEY, other, pairs), partition(LIKE_THE_PAPER))
    tables = [ablations(partitions, published()), ablations(partitions, published(c3=(40, 50)), key=other)]
    tables.append(ablations(partitions, published(), key=pairs).assign(exact_match=np.nan))
    table = compare(partitions, pd.concat(tables, ignore_index=True))
    verdicts = {model: claims(rows).loc["zero-diagonal-breaks", "verdict"] for model, rows in table.groupby("model")}
    assert verdicts == {"bert": "holds", "roberta": "fails", "pairs": "no verdict"}
    assert not figures(table.query("model == 'pairs'")).index.str.contains("f1").any()


def test_every_published_figure_has_its_row_in_the_papers_order(like_the_paper):
    table = figures(like_the_paper)
    expected = [f"share.{name}" for name in TYPES]
    expected += [f"stability.4.{half}" for half in ("heads", "samples", "pairs")]
    for number in range(1, 20):
        for metric in ("exact_match", "f1"):
            expected += [f"{number}.{metric}"] + ([f"{number}.drop_{metric}"] if number > 1 else [])
    assert table.index.tolist() == expected
    scores = [f"{each.id}.{metric}" for each in REFERENCE.conditions for metric in ("exact_match", "f1")]
    assert table.loc[scores, "published"].sum() == pytest.approx(1022.30 + 1159.75)
    assert table.loc[scores, "difference"].abs().max() == 0
    assert like_the_paper.columns.tolist() == COLUMNS
    assert like_the_paper["kind"].tolist() == ["claim"] * len(CLAIMS) + ["figure"] * len(expected)
    assert set(like_the_paper["n_questions"]) == {1000}


def test_figures_have_interval_and_difference():
    scores = published(c2=(70, 80))
    table = of_one(scores, intervals={KEY: around(scores, 3)})
    row = figures(table).loc["2.drop_exact_match"]
    numbers = row[["ours", "low", "high", "published", "difference"]].tolist()
    assert numbers == pytest.approx([12.85, 9.85, 15.85, 2.93, 9.92])
    row = figures(table).loc["share.dense"]
    share = 100 * 10 / 42
    assert row[["ours", "published", "difference"]].tolist() == pytest.approx([share, 26.04, share - 26.04])
    assert np.isnan(row["low"])
    assert claims(table).loc["zero-vertical-little", "verdict"] == "open"
    page = comparison_page(table, REFERENCE)
    assert "| drop of exact match, zero dense | 12.85 | 9.85 to 15.85 | 2.93 | 9.92 |  |" in page
    decides = "1.43 (-1.57 to 4.43); claimed below 1.5 (open for limits from -1.57 to 4.43)"
    assert f"| drop of exact match with zero vertical: {decides} | points, not" in page


def test_contradictions_of_the_paper_stand_beside_the_figure(like_the_paper):
    remarks, page = figures(like_the_paper)["remark"], comparison_page(like_the_paper, REFERENCE)
    assert remarks["12.exact_match"] == "Table 3; the text has 19.96"
    assert remarks["12.f1"] == ""
    of_claims = claims(like_the_paper)["remark"]
    assert set(of_claims[of_claims != ""].index) == {name for note in REFERENCE.notes for name in note.claims}
    for note in REFERENCE.notes:
        concerned = remarks[[each for each in remarks.index if note.concerns(each)]]
        assert len(concerned) >= len(note.figures)
        assert concerned.str.contains(note.remark, regex=False).all()
        assert note.text in page


def test_other_types_have_no_shares_stability_or_verdicts():
    key = ("bert", "squad-kmeans-k5")
    partitions = {key: partition([[f"type-{number}" for number in range(1, 6)]] * 6)}
    table = compare(partitions, ablations(partitions, {1: (80, 90)}, key=key))
    assert figures(table).index.tolist() == ["1.exact_match", "1.f1"]
    assert set(claims(table)["verdict"]) == {"no verdict"}
    assert claims(table).loc["zero-dense-little", "reason"] == "the partition lacks dense"


def test_heads_are_compared_with_those_of_the_parent():
    partitions = {KEY: partition(LIKE_THE_PAPER)}
    other = [list(layer) for layer in LIKE_THE_PAPER]
    for layer in other[:4]:
        layer[:3] = ["vertical"] * 3
    table = compare(partitions, None, parents={KEY: partition(other)})
    row = claims(table).loc["clusters-kept-in-fine-tuning"]
    assert (row["verdict"], row["ours"]) == ("holds", pytest.approx(100 * 30 / 42 - 41.6, abs=1))
    assert "cluster (71.43) less" in row["reason"]
    assert row["p"] < 0.05 < row["low"]
    row = claims(table).loc["changes-in-last-layers"]
    assert (row["verdict"], row["ours"]) == ("fails", pytest.approx(-100 * 6 / 14 + 6.7, abs=1))
    # Other names of the same clusters change nothing, nor does doubt about them.
    turned = dict(zip(TYPES, TYPES[1:] + TYPES[:1], strict=True))
    renamed = partition([[turned[name] for name in layer] for layer in other], doubtful=("dense",))
    same = compare(partitions, None, parents={KEY: renamed})
    pd.testing.assert_frame_equal(claims(same), claims(table))
