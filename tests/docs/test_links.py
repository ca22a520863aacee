"""What the documentation points to exists: links, images, headings, and paths in the repository."""

import re
from pathlib import Path

import pytest

from headtypes.attention.operations import OPERATIONS
from tests.docs.test_tutorial import TUTORIAL, steps
from tests.support.places import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# The workflow's own tables, kept as they were written.
WRITTEN = [page for page in PAGES if "understand/results/" not in page.as_posix()]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FOLDERS = (
    r"(?:benchmarks|commands|docs|envs|experiments|profiles|reference|report|rules|schemas|tests|workflow_scripts)"
)
# A path in backticks; one with a placeholder, as rules/WORD.smk or figure{1,2}.png, is a pattern and not checked.
PATH = re.compile(rf"`((?:{FOLDERS}|headtypes)/[\w./-]+)`")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The headings of a page, as GitHub turns them into anchors."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_and_image_of_a_page_leads_somewhere(page):
    for target in LINK.findall(text_of(page)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(page):
    for table in re.findall(r"(?:^\|.*\n)+", text_of(page), re.MULTILINE):
        cells = [re.sub(r"`[^`]*`|\\\|", "", row).count("|") for row in table.splitlines()]
        assert len(set(cells)) == 1, table.splitlines()[0]


def test_no_page_advises_a_command_that_prints_or_names_all_there_is():
    """A dry run in full is 100 kB; of what is untracked, sources and records are most; and every job has changed."""
    advised = re.compile(r"--list-untracked|--list-changes|\bsnakemake (-n|--dry-run)\b(?! (--quiet rules|TARGET))")
    assert [(page.name, found[0]) for page in WRITTEN for found in advised.finditer(page.read_text("utf-8"))] == []


def test_every_page_is_in_the_index():
    index = ROOT / "docs/README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in LINK.findall(text_of(index))}
    assert set(WRITTEN) - {ROOT / "README.md", index} == linked


def test_every_operation_on_heads_is_in_the_methods_table():
    method = (ROOT / "docs" / "understand" / "method.md").read_text(encoding="utf-8")
    listed = re.search(r"^\| operation \| effect \|\n((?:\|.*\n)+)", method, re.MULTILINE)[1]
    assert OPERATIONS.keys() <= set(re.findall(r"`(\w+)(?: \d)?`", listed))


@pytest.mark.parametrize("page", WRITTEN, ids=name)
def test_every_path_that_a_page_names_exists(page):
    created = {step.path for step in steps() if step.how is None} if page == TUTORIAL else set()
    for path in set(PATH.findall(page.read_text(encoding="utf-8"))) - created:
        place = ROOT / "workflow_scripts" / path if path.startswith("headtypes") else ROOT / path
        assert place.exists() or re.search(r"/[A-Z]+\b", path), path


def test_every_page_that_code_and_configs_name_exists():
    folders = ("benchmarks", "commands", "envs", "experiments", "profiles", "reference", "report", "rules", "tests")
    found = [file for folder in (*folders, "workflow_scripts") for file in (ROOT / folder).rglob("*.*")]
    files = [file for file in found if file.is_file()]  # `pip install .` leaves a folder with a dot.
    files += [ROOT / file for file in ("Snakefile", "config.yaml", "pyproject.toml", "Makefile")]
    read = [file for file in files if file.suffix not in (".pyc", ".png") and file.parent != Path(__file__).parent]
    named = {path for file in read for path in PAGE.findall(file.read_text(encoding="utf-8"))}
    assert "docs/lookup/configuration.md" in named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
