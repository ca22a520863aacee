"""The steps of docs/extend/tutorial.md, applied to a copy of the repository."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.support.places import ROOT

TUTORIAL = ROOT / "docs/extend/tutorial.md"
# What a copy consists of: the code, its configuration and its tests.
PARTS = ("Snakefile", "pyproject.toml", "config.yaml", "README.md")
FOLDERS = (
    "commands",
    "docs",
    "envs",
    "profiles",
    "reference",
    "report",
    "rules",
    "schemas",
    "tests",
    "workflow_scripts",
)

# "Create `path`:" or "In `path`, insert before `anchor`:", each followed by a block of code.
STEP = re.compile(
    r"^(Create|In) `(?P<path>[^`\n]+)`(?:, (?P<how>insert before|insert after) `(?P<anchor>[^`\n]+)`)?:\n\n"
    r"```\w+\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """A change of one file: the whole text of a new one, or a text at an anchor of one that exists."""

    path: str
    how: str | None
    anchor: str | None
    text: str

    def apply(self, root: Path) -> None:
        """Change the file in a copy of the repository."""
        file = root / self.path
        if self.how is None:
            assert not file.exists(), f"{self.path} exists already"
            file.parent.mkdir(exist_ok=True)
            file.write_text(self.text, encoding="utf-8")
            return
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.startswith(self.anchor)]
        assert len(places) == 1, f"{self.path} has {len(places)} lines that start with {self.anchor}"
        lines.insert(places[0] + (self.how == "insert after"), self.text)
        file.write_text("".join(lines), encoding="utf-8")


def steps() -> list[Step]:
    """The steps, in their order."""
    found = STEP.finditer(TUTORIAL.read_text(encoding="utf-8"))
    return [Step(step["path"], step["how"], step["anchor"], step["text"]) for step in found]


def copy_repository(folder: Path) -> None:
    """Copy the files that a step can touch, or that tests need."""
    for name in PARTS:
        shutil.copyfile(ROOT / name, folder / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
