"""The recipes of docs/run/recipes.md as they stand there: their files, their commands and their programs."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.places import ROOT

PAGE = (ROOT / "docs/run/recipes.md").read_text(encoding="utf-8")
# By heading; what stands before the first one is "".
RECIPES = {part.partition("\n")[0]: part for part in re.split(r"^## ", f"\n{PAGE}", flags=re.MULTILINE)}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A checkout with the files of the recipes, in which their commands run."""

    folder: Path
    variables: dict[str, str]

    def write(self) -> None:
        """Write every file of the page; a block of YAML begins with its name."""
        for language, text in _BLOCK.findall(PAGE):
            if language == "yaml":
                name = re.match(r"# (\S+\.yaml)\n", text)[1]
                (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, command: str, *further: str) -> str:
        """Run a command of the page, with further arguments; return what it printed."""
        words = shlex.split(command)
        program = {"snakemake": ["-m", "snakemake"], "python": []}[words[0]]
        environment = {**os.environ, **self.variables, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, *program, *words[1:], *further],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def planned(self, command: str) -> tuple[dict[str, int], str]:
        """The number of jobs of each rule that a command of the page would run, and all that it prints."""
        printed = self.run(command, "--dry-run", "--quiet", "rules")
        lines = printed.split("Job stats:")[1].split("\n\n")[0].splitlines()[3:]
        return {line.split()[0]: int(line.split()[1]) for line in lines if line.strip()}, printed


def commands(recipe: str) -> list[str]:
    """The commands of a recipe, without those that set variables."""
    lines = [line for language, text in _BLOCK.findall(RECIPES[recipe]) if not language for line in text.splitlines()]
    return [line for line in lines if not line.startswith("export ")]


def programs(recipe: str) -> list[str]:
    """The blocks of Python of a recipe."""
    return [text for language, text in _BLOCK.findall(RECIPES[recipe]) if language == "python"]
