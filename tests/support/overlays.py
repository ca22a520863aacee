"""Configurations laid over `config.yaml`, as files that are given with --configfile are."""

import copy
import tempfile
from pathlib import Path

import yaml
from snakemake.utils import update_config

from headtypes.planning.config.files import LaidOver, laid_over
from tests.support.places import ROOT

DEMO = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def over_the_demo(*configs: dict) -> LaidOver:
    """The demo with these laid over it, the lowest first."""
    merged, over = copy.deepcopy(DEMO), {}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}.yaml") for number in range(len(configs))]
        for file, config in zip(files, configs, strict=True):
            file.write_text(yaml.safe_dump(config), encoding="utf-8")
            update_config(over, copy.deepcopy(config))
        update_config(merged, over)
        return laid_over(merged, [ROOT / "config.yaml", *files])
