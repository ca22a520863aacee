"""Verdicts on heads: what is planted is told, errors are as rare as promised, and tables and figures show it."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.use import results
from headtypes.analyses.use.analysis import per_head
from headtypes.analyses.use.figure import use_figure
from headtypes.analyses.use.found import SURFACE, Found
from headtypes.analyses.use.results import OF, READINGS, read_use, use_table
from headtypes.core.table_files import write_csv
from tests.support.places import ROOT

SENTENCES = 80
HOW = {"least": 0.02, "found_seed": 1, "seed": 1}
# What the loss rises by without the arcs of a relation, other arcs, and in other heads, in nats per token.
PLANTED = {
    "used": (0.3, 0.0, 0.05),
    "not_used": (0.0, 0.0, 0.0),
    "any_arc": (0.3, 0.3, 0.0),
    "any_head": (0.3, 0.0, 0.3),
}
VERDICTS = {"used": "found and used", "not_used": "found and not used"}
VERDICTS |= dict.fromkeys(["any_arc", "any_head"], "could not be told")


def found_of(relation: str, accuracy: float = 0.9, head: int = 0) -> Found:
    """A head that finds so many of two pairs of each sentence, where the offset finds half."""
    pairs = np.arange(2 * SENTENCES)
    return Found(
        *(relation, "dependent_to_head", 1, head, (2, 5), (2, 3), -1, 3 * SENTENCES, pairs // 2, pairs // 2, pairs % 2),
        keys=pairs[:, None] % 2 + 1,
        right=pairs % 10 < 10 * accuracy,
        by_offset=pairs % 2 == 0,
    )


def losses_of(relation: str, rises: tuple[float, ...], rng, noise: float = 0.05, readings=READINGS) -> pd.DataFrame:
    """Losses of two tokens of each sentence, that rise by so much and something random."""
    loss = rng.gamma(2, 3, SENTENCES)
    names = {"relation": relation, "direction": "dependent_to_head", "layer": 1, "head": 0}
    tables = [
        {**names, "of": of, "reading": reading, "unit": np.arange(SENTENCES), "tokens": 2, "loss": loss}
        | {"without": loss + 2 * (rise + noise * rng.standard_normal(SENTENCES))}
        for of, rise in zip(OF, rises, strict=False)
        for reading in readings
    ]
    return pd.concat(map(pd.DataFrame, tables), ignore_index=True)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    losses = pd.concat(losses_of(name, rises, rng) for name, rises in PLANTED.items())
    found = [found_of(name, head=number) for number, name in enumerate(PLANTED)]
    return use_table([*found, found_of("missed", 0.5)], losses, **HOW)


def test_a_head_is_used_if_its_arcs_matter_more_than_others_and_than_in_other_heads(table):
    assert len(table) == 2 * (len(PLANTED) + 1)
    assert dict(zip(table["relation"], table["verdict"], strict=True)) == VERDICTS | {"missed": "not found"}
    for name, (rise, arcs, heads) in PLANTED.items():
        (row,) = table[(table["relation"] == name) & (table["reading"] == "zero")].to_dict("records")
        expected = {"rise": rise, "above_arcs": rise - arcs, "above_heads": rise - heads}
        for column, value in expected.items():
            assert row[f"{column}_low"] - 0.01 < value < row[f"{column}_high"] + 0.01
            assert row[column] == pytest.approx(value, abs=0.03)
        assert (row["accuracy"], row["baseline"], row["above"]) == pytest.approx((90, 50, 40))
        assert (row["words"], row["visible"], row["tokens"]) == (3 * SENTENCES, 2 * SENTENCES, 2 * SENTENCES)


def test_what_differs_between_the_readings_or_has_nothing_beside_it_cannot_be_told():
    rng = np.random.default_rng(0)
    both = [losses_of("obj", PLANTED[name], rng, readings=[of]) for name, of in zip(VERDICTS, READINGS, strict=False)]
    losses = pd.concat([*both, losses_of("alone", (0.3,), rng)])
    table = use_table([found_of(name) for name in ("obj", "alone", "not measured")], losses, **HOW)
    assert set(table["verdict"]) == {"could not be told"}
    assert table.loc[table["relation"] != "obj", "p"].isna().all()
    # Beside one of them, a verdict is by that alone.
    heads = losses_of("obj", PLANTED["used"], rng)
    table = use_table([found_of("obj")], heads[heads["of"] != "other_arcs"], **HOW)
    assert set(table["verdict"]) == {"found and used"}
    assert table["above_arcs"].isna().all()


@pytest.mark.parametrize("rises", [(0.02, 0, 0), (0.3, 0.28, 0), (0.3, 0, 0.28)])
def test_where_a_rise_is_what_counts_at_least_a_verdict_is_rare(rises, monkeypatch):
    monkeypatch.setattr(results, "RESAMPLES", 1000)
    rng = np.random.default_rng(3)
    names = [f"r{number}" for number in range(12)]
    told = 0
    for name in names:
        losses = losses_of(name, rises, rng)
        told += (use_table([found_of(name)], losses, **HOW)["verdict"] != "could not be told").any()
    # At most 5 %: of 12, more than 3 have a probability of 0.002.
    assert told <= 3


def test_the_atlas_has_the_relation_whose_loss_rises_most_and_the_figure_every_head_that_finds(table, tmp_path):
    write_csv(tmp_path / "use.csv", table)
    of_what, rise = per_head("trees", tmp_path / "use.csv")
    shown = of_what.as_dict()
    names = [None if index is None else shown["categories"][index]["name"] for index in shown["values"]]
    assert names == [*[None] * 5, *(f"{name}: {VERDICTS[name]}" for name in PLANTED), None]
    shown = rise.as_dict()
    assert shown["values"][5] == pytest.approx(0.3, abs=0.03)
    assert shown["low"][5] < shown["values"][5] < shown["high"][5]
    figure = use_figure(read_use(tmp_path / "use.csv"))
    left, right = figure.axes
    # Not of relations alone, whose baseline is an offset.
    assert left.get_xlabel() == "found: points above the baseline"
    caption = " ".join((ROOT / "report/use.rst").read_text("utf-8").split())
    assert [name for name in (*SURFACE, "relation", "antecedent") if name not in caption] == []
    assert len(right.get_yticks()) == len(PLANTED)
    assert sum(len(line.get_xdata()) for line in left.lines if "found" in (line.get_gid() or "")) == len(PLANTED)


def test_without_relations_there_is_an_empty_table_and_an_empty_figure(tmp_path):
    empty = use_table([], losses_of("obj", (0.1, 0, 0), np.random.default_rng(0)).iloc[:0], **HOW)
    write_csv(tmp_path / "use.csv", empty)
    read = read_use(tmp_path / "use.csv")
    assert read.empty
    assert use_figure(read).axes
    assert per_head("trees", tmp_path / "use.csv") == []
