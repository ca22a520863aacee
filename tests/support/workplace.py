"""A working directory, with its own copy of the workflow, in which everything has been made."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.configs import full_config
from tests.support.places import ROOT

# What the workflow consists of, besides `config.yaml`.
PARTS = ("Snakefile", "rules", "workflow_scripts", "profiles", "schemas", "reference", "report", "envs")


@dataclass(frozen=True)
class Workplace:
    folder: Path
    config: dict

    @classmethod
    def copied(cls, folder: Path, config: dict | None = None) -> "Workplace":
        """Copy the workflow into a folder; without a configuration, the full one."""
        copy_workflow(folder)
        place = cls(folder, full_config(folder / "inputs") if config is None else config)
        place._configure(place.config)
        return place

    @contextlib.contextmanager
    def configured(self, config: dict) -> Iterator[None]:
        self._configure(config)
        try:
            yield
        finally:
            self._configure(self.config)

    @contextlib.contextmanager
    def edited(self, texts: Mapping[str, str]) -> Iterator[None]:
        before = {name: self.text(name) for name in texts}
        self.write(texts)
        try:
            yield
        finally:
            self.write(before)

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def write(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def _configure(self, config: dict) -> None:
        self.write({"config.yaml": yaml.safe_dump(config, sort_keys=False)})


def copy_workflow(folder: Path, *more: str) -> None:
    """Copy the workflow's own files, and further files and folders, with new times, as a checkout gives them."""
    folder.mkdir(parents=True, exist_ok=True)
    unwanted = shutil.ignore_patterns("__pycache__")
    for part in (*PARTS, *more):
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=unwanted, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(ROOT / part, folder / part)
