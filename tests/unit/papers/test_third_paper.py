"""A third paper is its own data and claims: it shares the engine, and touches nothing of the others."""

import subprocess
import sys

import pandas as pd
import pytest

from headtypes.papers.claims import Claims, judge
from headtypes.papers.comparison import (
    COLUMNS,
    Subject,
    comparison_page,
    comparison_table,
    subject_parts,
    tidy_table,
    value_row,
)
from headtypes.papers.published import Data, Published, read_published
from headtypes.papers.quantities import Measured, NoVerdictError, Quantities, Quantity
from tests.support.places import SCRIPTS

YAML = """
paper: Nobody (2030), Heads Do This
url: https://example.org
relations:
  - {relation: det, accuracy: 94.3, baseline: 51.7}
  - {relation: nsubj, accuracy: 58.5, baseline: 45.5}
broad_heads: 4
notes:
  - {place: Table 1, figures: [relation.nsubj], remark: the text has 58.6, text: The table's number is taken.}
"""


class Relation(Data):
    relation: str
    accuracy: float
    baseline: float


class Paper(Published):
    relations: list[Relation]
    broad_heads: int


class Model(Quantities):
    """With `Paper` as what is published."""

    def lead(self, relation: str) -> Quantity:
        names = [f"relation.{relation}.{system}" for system in ("accuracy", "baseline")]
        if not all(name in self for name in names):
            raise NoVerdictError(f"the treebank has no {relation}")
        measured = self.weighted_sum(dict(zip(names, (1.0, -1.0), strict=True)))
        return Quantity(f"accuracy of {relation} less that of the offset", measured)


claim = Claims("heads")


@claim(
    "heads-specialise",
    place="section 4",
    text="For some relations a head beats the best offset by more than ten points.",
    wording="better than any offset",
    limit="ten points, since less would be no gain",
)
def _(model: Model):
    return [model.lead(relation).above(10) for relation in ("det", "nsubj")]


@claim(
    "broad-heads",
    basis="from_table",
    place="section 3",
    text="At least three heads attend broadly.",
    limit="three heads of four",
)
def _(model: Model):
    return model.quantity("heads.entropy", "heads with entropy above 3.8").above(2)


def published_quantities(paper: Paper) -> Model:
    values = {"heads.entropy": paper.broad_heads}
    for row in paper.relations:
        values |= {f"relation.{row.relation}.accuracy": row.accuracy, f"relation.{row.relation}.baseline": row.baseline}
    return Model({name: Measured(value) for name, value in values.items()}, published=paper)


def ours(det: tuple[float, float], broad: Measured) -> Model:
    """Accuracies of a head and of the offset, whose differences have intervals of four points."""
    values = {"relation.det.accuracy": det[0], "relation.det.baseline": det[1]}
    values |= {"relation.nsubj.accuracy": 60.0, "relation.nsubj.baseline": 45.0}

    def interval(weights):
        value = sum(weight * values[name] for name, weight in weights.items())
        return Measured(value, value - 2, value + 2)

    return Model({name: Measured(value) for name, value in values.items()} | {"heads.entropy": broad}, interval)


@pytest.fixture
def paper(tmp_path):
    path = tmp_path / "nobody2030.yaml"
    path.write_text(YAML)
    return read_published(path, Paper)


def compared(paper: Paper, subjects: dict[tuple[str, str], Model]) -> pd.DataFrame:
    theirs, compared = published_quantities(paper), []
    for (model, task), quantities in subjects.items():
        rows = []
        for row in paper.relations:
            id_, label = f"relation.{row.relation}.accuracy", f"accuracy of {row.relation}"
            rows.append(value_row("Table 1", id_, label, quantities[id_], row.accuracy, paper))
        compared.append(Subject({"model": model, "task": task}, claim, quantities, theirs, rows))
    return comparison_table(compared, ["model", "task", *COLUMNS])


def test_its_claims_hold_on_its_own_numbers_and_are_judged_on_ours(paper):
    subjects = {
        ("bert", "ewt"): ours((90.0, 50.0), Measured(5.0)),
        ("bert", "gum"): ours((61.0, 50.0), Measured(2.0, 1.0, 2.0)),
    }
    table = compared(paper, subjects)
    verdicts = table[table["kind"] == "claim"].set_index(["task", "id"])["verdict"].to_dict()
    assert verdicts == {
        ("ewt", "heads-specialise"): "holds",
        ("ewt", "broad-heads"): "holds",
        ("gum", "heads-specialise"): "open",
        ("gum", "broad-heads"): "fails",
    }
    row = table.set_index(["task", "id"]).loc[("gum", "heads-specialise")]
    assert row[["ours", "low", "high", "published"]].tolist() == pytest.approx([11, 9, 13, 94.3 - 51.7])
    remarks = table.set_index(["task", "id"])["remark"]
    assert remarks["ewt", "relation.nsubj.accuracy"] == "the text has 58.6"
    assert remarks["ewt", "relation.det.accuracy"] == ""
    theirs = published_quantities(paper)
    assert {judge(it, theirs).verdict for it in claim} == {"holds"}


def test_its_page_and_its_quantities_have_its_own_subjects(paper):
    subjects = {("bert", "ewt"): ours((90.0, 50.0), Measured(5.0, 4.0, 6.0))}
    table = compared(paper, subjects)
    page = comparison_page("Nobody", ["Words."], table, ["model", "task"], claim, paper, subject_parts)
    assert "| bert | ewt | stated | 1 | 0 | 0 | 0 | 1 | 0 | 0 |" in page
    assert "| bert | ewt | from the table | 1 | 0 | 0 | 0 | 1 | 0 | 0 |" in page
    decides = "heads with entropy above 3.8: 5.00 (4.00 to 6.00); claimed above 2 (the same for limits below 4.00)"
    assert f"| broad-heads | holds |  |  |  | {decides} |  |" in page
    of_subject = page.split("## bert, ewt")[1]
    shown = ("### Claims: stated", "| heads-specialise |", "### Claims: from the table", "### Table 1", "## Notes on")
    places = [of_subject.index(text) for text in shown]
    assert places == sorted(places)
    assert "| section 4 | “better than any offset” | ten points, since less would be no gain |" in page
    assert (
        "| broad-heads | from the table | At least three heads attend broadly. | section 3 |  | three heads of" in page
    )
    assert "| accuracy of nsubj | 60.00 | 58.50 | 1.50 | the text has 58.6 |" in page
    assert "- Table 1: The table's number is taken." in page
    tidy = tidy_table(subjects, ["model", "task"])
    assert list(tidy) == ["model", "task", "quantity", "value", "low", "high"]
    assert tidy.set_index("quantity").loc["heads.entropy", ["value", "low", "high"]].tolist() == [5, 4, 6]
    assert len(tidy) == 5


def test_the_machinery_needs_nothing_of_the_first_paper():
    """In a process of its own, since other tests load the first paper."""
    shared = ("claims", "comparison", "paper", "published", "quantities")
    program = f"import sys\nfor name in {shared}: __import__(f'headtypes.papers.{{name}}')\n"
    program += "assert not [name for name in sys.modules if 'guan2020' in name]\n"
    subprocess.run([sys.executable, "-c", program], cwd=SCRIPTS, check=True)
