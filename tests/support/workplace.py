"""A working directory, with its own copy of the workflow, in which everything has been made."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.configs import full_config
from tests.support.places import ROOT
from tests.support.planning import pretend

# What the workflow consists of, besides `config.yaml`.
PARTS = ("Snakefile", "rules", "workflow_scripts", "profiles", "schemas", "reference", "report", "envs")


@dataclass(frozen=True)
class Workplace:
    """A folder with a copy of the workflow and a `config.yaml`."""

    folder: Path
    config: dict

    @classmethod
    def copied(cls, folder: Path, config: dict | None = None) -> "Workplace":
        """Copy the workflow into a folder; without a configuration, the full one."""
        copy_workflow(ROOT, folder)
        place = cls(folder, full_config(folder / "inputs") if config is None else config)
        place._configure(place.config)
        return place

    def finish(self) -> "Workplace":
        """Make everything, as far as Snakemake can tell."""
        pretend(self.folder)
        return self

    @contextlib.contextmanager
    def configured(self, config: dict) -> Iterator[None]:
        """Another configuration, for a `with` block."""
        self._configure(config)
        try:
            yield
        finally:
            self._configure(self.config)

    @contextlib.contextmanager
    def edited(self, texts: Mapping[str, str]) -> Iterator[None]:
        """Files of the folder with other texts, for a `with` block."""
        before = {name: self.text(name) for name in texts}
        self.write(texts)
        try:
            yield
        finally:
            self.write(before)

    def text(self, name: str) -> str:
        """What a file of the folder holds."""
        return (self.folder / name).read_text(encoding="utf-8")

    def write(self, texts: Mapping[str, str]) -> None:
        """Give files of the folder other texts."""
        for name, text in texts.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def _configure(self, config: dict) -> None:
        self.write({"config.yaml": yaml.safe_dump(config, sort_keys=False)})


def copy_workflow(root: Path, folder: Path) -> None:
    """Copy the workflow's own files, with new times, as a checkout gives them."""
    folder.mkdir(parents=True, exist_ok=True)
    unwanted = shutil.ignore_patterns("__pycache__")
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, folder / part, ignore=unwanted, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(root / part, folder / part)
