"""Configurations laid over `config.yaml`, as files that are given with --configfile are."""

import tempfile
from pathlib import Path

import yaml

from headtypes.planning.config.files import Layers, laid_over
from tests.support.places import ROOT

DEMO = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def over_the_demo(*configs: dict) -> Layers:
    """The demo with these laid over it, the lowest first."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}.yaml") for number in range(len(configs))]
        for file, config in zip(files, configs, strict=True):
            file.write_text(yaml.safe_dump(config), encoding="utf-8")
        return laid_over([ROOT / "config.yaml", *files])
