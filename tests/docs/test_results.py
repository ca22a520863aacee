"""What the pages of results say is in the files behind them.

Each number of results.md is one cell of a file, named in results.yaml beside this test; those of the models' pages are
among the numbers of the files that the page links to.
"""

import re

import pandas as pd
import pytest
import yaml

from headtypes.papers.clark2019 import comparison as clark2019
from headtypes.papers.guan2020 import comparison as guan2020
from headtypes.papers.kobayashi2020.claims import claim as claims_of_norms
from tests.docs.test_links import LINK, text_of
from tests.support.places import ROOT

PAGE, RESULTS = ROOT / "docs/understand/results.md", ROOT / "docs/understand/results"
INDEX, CHANGED = RESULTS / "README.md", RESULTS / "verdicts_changed.md"
MODELS = sorted(set(RESULTS.glob("*.md")) - {INDEX, CHANGED})
SOURCES = yaml.safe_load((ROOT / "tests/docs/results.yaml").read_text(encoding="utf-8"))
MODELS_OF_STUDY = ["minilm", "mpnet", "smollm2", "gemma3"]
# Each claim by the rule before, which the files of earlier runs follow, and by the rule now, where that is another.
RULES = pd.read_csv(RESULTS / "claims_before_after.csv").set_index("id")
# Not a part of a name, a word or a version.
NUMBER = re.compile(r"(?<![\w.])(<?)(-?(?:\d{1,3}(?:,\d{3})+|\d*\.\d+|\d+))(?!\w|[.,]\d)")


def shown(page) -> str:
    """What a reader sees of a page: without its code, and without the targets of links; all white space a blank."""
    text = re.sub(r"`[^`]*`", "", re.sub(r"\]\([^)]*\)", "]", text_of(page)))
    return re.sub(r"\s+", " ", re.sub(r"\]\[", "] [", text))


def linked(page) -> set:
    return {(page.parent / target.partition("#")[0]).resolve() for target in LINK.findall(text_of(page))}


def is_rounded(value: float, number: str) -> bool:
    """Whether a number of a page is this value, rounded to the number's places."""
    places = len(number.partition(".")[2])
    return abs(value - float(number.replace(",", ""))) <= 0.5 * 10**-places * (1 + 1e-6)


def cells(source: str) -> list[float]:
    """The numbers that a line of results.yaml names: `file | rows | column, column`."""
    file, rows, columns = (part.strip() for part in source.split(" | "))
    found = pd.read_csv(RESULTS / file).query(rows, engine="python")
    return [len(found) if column == "rows" else value_of(found, column) for column in columns.split(", ")]


def value_of(found: pd.DataFrame, column: str) -> float:
    """The one value of a column, or of what is worked out from columns."""
    (value,) = pd.Series(found.eval(column, engine="python")).unique()
    return float(value)


def unfounded(text: str, sources: dict) -> list[str]:
    """The numbers of a text that differ from the cells which `sources` names, and those for which it names none."""
    for name in sources["no_results"]:
        assert name in text, name
        text = text.replace(name, "")
    left, wrong = "", []
    for passage, lines in passages(sources):
        before, here, text = text.partition(passage)
        assert here, f"not on the page, or not after the passage before it: {passage}"
        left += before + " "
        said, values = NUMBER.findall(passage), [value for line in lines for value in cells(line)]
        assert len(said) == len(values), passage
        wrong += [
            less + number
            for (less, number), value in zip(said, values, strict=True)
            if not (value < float(number) if less else is_rounded(value, number))
        ]
    return wrong + [less + number for less, number in NUMBER.findall(left + text)]


def passages(sources: dict) -> list[tuple[str, list[str]]]:
    """The passages with numbers, each with the lines that name its cells."""
    entries = [item for entry in sources["numbers"] for item in entry.items()]
    return [(passage, [lines] if isinstance(lines, str) else lines) for passage, lines in entries]


def test_every_number_of_the_page_of_results_is_a_cell_of_a_file():
    assert unfounded(shown(PAGE), SOURCES) == []


def test_every_file_that_numbers_come_from_is_linked_from_the_page_or_from_a_page_that_it_links_to():
    sources = {line.split(" | ")[0] for _, lines in passages(SOURCES) for line in lines}
    pages = {page for page in linked(PAGE) if page in MODELS}
    reached = linked(PAGE).union(*(linked(page) for page in pages))
    assert {RESULTS / file for file in sources} <= reached


def claims_of(file) -> pd.DataFrame:
    """The claims in a file of results, by their names."""
    table = pd.read_csv(file)
    return table[table["kind"].str.startswith("claim")].set_index("id") if "kind" in table else table.set_index("claim")


def test_verdicts_in_the_tables_of_the_page_of_results_are_those_of_their_files():
    demo = claims_of(RESULTS / "demo/comparison.csv").query('model == "minilm-qa"')
    study = claims_of(RESULTS / "study/claims.csv")
    rows = re.findall(r"^\| [^|]*\(`([\w-]+)`\) \|(.*)\|$", text_of(PAGE), re.MULTILINE)
    assert all({name for name, _ in rows} & set(table.index) for table in (demo, study))
    for name, row in rows:
        said = [re.match(r" (holds|fails|open)?", cell)[1] or "no verdict" for cell in row.split("|")]
        expected = [demo.loc[name, "verdict"]] if name in demo.index else [*study.loc[name, MODELS_OF_STUDY]]
        assert (said[2:3] if name in demo.index else said[: len(MODELS_OF_STUDY)]) == expected, name


def test_claims_by_the_rules_before_and_now_are_those_of_the_papers_with_the_demos_verdicts():
    asked = RULES[~RULES["rule_now"].str.startswith("not asked", na=False)]
    papers = (guan2020.CLAIMS, clark2019.CLAIMS, claims_of_norms)
    assert set(asked.index) == {claim.id for claims in papers for claim in claims}
    demo = claims_of(RESULTS / "demo/comparison.csv").query('kind == "claim" and model == "minilm-qa"')["verdict"]
    assert demo.to_dict() == asked.loc[demo.index, "demo_now"].to_dict()


# How a page says what became of claims, and the verdict that their files have.
SAID = {"Hold": "holds", "Fail": "fails", "Open": "open"}
CLAIM = re.compile(r"`([a-z_]+(?:-[a-z0-9_]+)+)`")


@pytest.mark.parametrize("page", MODELS, ids=lambda page: page.name)
def test_verdicts_on_a_models_page_are_those_of_its_files_unless_their_rules_have_changed(page):
    judged = ("comparison.csv", "text.csv", "over_models.csv")
    tables = [claims_of(file) for file in linked(page) if file.name.endswith(judged)]
    changed = set() if page.stem == "demo" else set(RULES.dropna(subset="rule_now").index)
    parts = re.findall(r"\*\*(Hold|Fail|Open)s?[:.]\*\*(.*?)(?=\n\n|\n- |\Z)", text_of(page), re.DOTALL)
    for beginning, part in parts:
        for name in set(CLAIM.findall(part)) - changed:
            verdicts = {verdict for table in tables for verdict in table.loc[table.index == name, "verdict"]}
            assert not tables or SAID[beginning] in verdicts, name


# How a run was made: no result.
SETTINGS = {"95"}
# A number that was measured: it has decimals, or a unit.
MEASURED = re.compile(r"(?<![\w.,-])(\d*\.\d+|[\d,]+(?=\s(?:%|points|nats)))(?![\w-]|\.\d)")


@pytest.mark.parametrize("page", MODELS, ids=lambda page: page.name)
def test_numbers_of_a_models_page_are_values_of_files_that_it_links_to(page):
    text = shown(page).partition(" ## How it was made")[0]
    files = [file for file in linked(page) if file.suffix == ".csv"]
    known = [float(each) for file in files for each in re.findall(r"\d*\.?\d+(?:e-?\d+)?", file.read_text())]
    # Of a share, a page may give percent.
    known += [100 * value for value in known if value <= 1]
    measured = set(MEASURED.findall(text)) - SETTINGS
    assert measured
    assert {number for number in measured if not any(is_rounded(value, number) for value in known)} == set()


def test_the_index_has_every_file_of_results_and_every_page_of_a_model():
    files = {file for kind in ("csv", "yaml", "md") for file in RESULTS.rglob(f"*.{kind}")}
    assert files - {INDEX} <= linked(INDEX) | {CHANGED}
