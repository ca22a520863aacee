"""What pages of results say is in the files behind them; of the first sentences, in cells that results.yaml names."""

import re

import pandas as pd
import pytest
import yaml

from tests.docs.test_links import LINK, text_of
from tests.support.places import ROOT

PAGE, RESULTS = ROOT / "docs/understand/results.md", ROOT / "docs/understand/results"
INDEX = RESULTS / "README.md"
MODELS = sorted(set(RESULTS.glob("*.md")) - {INDEX})
SOURCES = yaml.safe_load((ROOT / "tests/docs/results.yaml").read_text(encoding="utf-8"))
MODELS_OF_TEXTS = ["minilm", "mpnet", "smollm2", "gemma3"]
# The first sentences, before the first heading of a question.
FIRST, QUESTIONS = PAGE.read_text(encoding="utf-8").split("\n## ", 1)
# Not a part of a name, a word or a version.
NUMBER = re.compile(r"(?<![\w.])(<?)(-?(?:\d{1,3}(?:,\d{3})+|\d*\.\d+|\d+))(?!\w|[.,]\d)")
# A number that was measured: it has decimals, or a unit.
MEASURED = re.compile(r"(?<![\w.,])(?<!\w-)(\d*\.\d+|[\d,]+(?=\s(?:%|points|nats)))(?![\w-]|\.\d)")
SETTINGS = {"95"}


def shown(text: str) -> str:
    """What a reader sees of a text: without its code, and without the targets of links; all white space a blank."""
    text = re.sub(r"`[^`]*`", "", re.sub(r"\]\([^)]*\)", "]", text))
    return re.sub(r"\s+", " ", re.sub(r"\]\[", "] [", text))


def linked(text: str, page=PAGE) -> set:
    return {(page.parent / target.partition("#")[0]).resolve() for target in LINK.findall(text)}


def is_rounded(value: float, number: str) -> bool:
    places = len(number.partition(".")[2])
    return abs(value - float(number.replace(",", ""))) <= 0.5 * 10**-places * (1 + 1e-6)


def cells(source: str) -> list[float]:
    """The numbers that a line of results.yaml names: `file | rows | column, column`."""
    file, rows, columns = (part.strip() for part in source.split(" | "))
    found = pd.read_csv(RESULTS / file).query(rows, engine="python")
    return [len(found) if column == "rows" else value_of(found, column) for column in columns.split(", ")]


def value_of(found: pd.DataFrame, column: str) -> float:
    (value,) = pd.Series(found.eval(column, engine="python")).unique()
    return float(value)


def unfounded(text: str, sources: dict) -> list[str]:
    """The numbers of a text that differ from the cells which `sources` names, and those for which it names none."""
    for name in sources["no_results"]:
        assert name in text, name
        text = text.replace(name, "")
    left, wrong = "", []
    for passage, lines in (item for entry in sources["numbers"] for item in entry.items()):
        before, here, text = text.partition(passage)
        assert here, f"not on the page, or not after the passage before it: {passage}"
        left += before + " "
        lines = [lines] if isinstance(lines, str) else lines
        said, values = NUMBER.findall(passage), [value for line in lines for value in cells(line)]
        assert len(said) == len(values), passage
        wrong += [
            less + number
            for (less, number), value in zip(said, values, strict=True)
            if not (value < float(number) if less else is_rounded(value, number))
        ]
    return wrong + [less + number for less, number in NUMBER.findall(left + text)]


def test_every_number_of_the_first_sentences_is_a_cell_of_a_file():
    assert unfounded(shown(FIRST), SOURCES) == []


def test_each_of_the_first_sentences_with_a_result_names_its_file():
    sentences = re.split(r"(?<=\.)\s+(?=[A-Z*])", FIRST.partition("\n")[2].strip())
    assert len(sentences) == 10
    without = [sentence for sentence in sentences if MEASURED.search(shown(sentence)) and not linked(sentence)]
    assert without == []


def not_in_files(text: str, files: set) -> set[str]:
    """The measured numbers of a text that no file has, as they are or, of a share, in percent."""
    tables = [file.read_text() for file in files if file.suffix == ".csv"]
    found = [float(each) for table in tables for each in re.findall(r"\d*\.?\d+(?:e-?\d+)?", table)]
    found += [100 * value for value in found if value <= 1]
    measured = set(MEASURED.findall(shown(text))) - SETTINGS
    return {number for number in measured if not any(is_rounded(value, number) for value in found)}


@pytest.mark.parametrize("part", QUESTIONS.split("\n## "), ids=lambda part: part.partition("\n")[0])
def test_numbers_of_each_question_are_values_of_files_that_it_links_to(part):
    assert not_in_files(part.replace("**", ""), linked(part)) == set()


@pytest.mark.parametrize("page", MODELS, ids=lambda page: page.name)
def test_numbers_of_a_models_page_are_values_of_files_that_it_links_to(page):
    text = text_of(page).partition("\n## How it was made")[0]
    assert MEASURED.search(shown(text))
    assert not_in_files(text, linked(text_of(page), page)) == set()


def test_the_page_of_results_is_short():
    assert len(re.findall(r"\S*\w\S*", shown(text_of(PAGE)))) <= 2000


def claims_in_table(columns: int) -> dict[str, list[str]]:
    """The cells of the rows of tables of the page that name a claim, by its name."""
    rows = re.findall(r"^\| [^|]*\(`([\w-]+)`\) \|(.*)\|$", text_of(PAGE), re.MULTILINE)
    return {name: cells for name, row in rows if len(cells := [cell.strip() for cell in row.split("|")]) == columns}


def test_verdicts_on_clark_et_al_are_those_of_their_file():
    found = pd.read_csv(RESULTS / "texts/claims.csv").set_index(["id", "model"])["verdict"]
    rows = claims_in_table(len(MODELS_OF_TEXTS) + 1)
    assert len(rows) >= 8
    for name, row in rows.items():
        said = [re.match(r"(holds|fails|open)?", cell)[0] or "no verdict" for cell in row[: len(MODELS_OF_TEXTS)]]
        assert said == [found.get((name, model), "no verdict") for model in MODELS_OF_TEXTS], name


def test_the_index_has_every_file_of_results_and_every_page_of_a_model():
    files = {file for kind in ("csv", "yaml", "md", "json", "py") for file in RESULTS.rglob(f"*.{kind}")}
    assert files - {INDEX, RESULTS / "picture.py"} <= linked(text_of(INDEX), INDEX)
