"""What can be said in a config? Writes a page with a field for each key, which shows the YAML of what you fill in.

python commands/form.py [CONFIG.yaml] [--output form.html]

The page needs no network. With CONFIG.yaml, a file of the configuration alone, its keys are filled in. What the schema
does not allow is marked; how entries fit together is checked by `snakemake` alone.
"""

import argparse
import json
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow_scripts"))

from headtypes.core.errors import InputError, one_line
from headtypes.core.files import write_text
from headtypes.pages.form.page import page_of
from headtypes.planning.config.files import read_keys

SCHEMA = Path(__file__).resolve().parents[1] / "schemas" / "config.schema.json"


def main(arguments: list[str]) -> None:
    """Write the page, and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", type=Path, metavar="CONFIG.yaml")
    parser.add_argument("--output", type=Path, default=Path("form.html"))
    asked = parser.parse_args(arguments)
    if asked.output.is_dir():
        raise InputError(f"--output: {asked.output} is a folder; name a file in it.")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    config, first_line = ({}, "") if asked.config is None else _read(asked.config)
    page = page_of(schema, config, "mine.yaml" if asked.config is None else asked.config.name, first_line)
    write_text(asked.output, page)
    print(asked.output)


def _read(file: Path) -> tuple[dict, str]:
    """The keys of a file of the configuration, and its first line, where it is the one for editors."""
    read_keys(file)
    text = file.read_text(encoding="utf-8")
    try:
        config = yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"{file} cannot be read as YAML ({one_line(error)}); correct it.") from error
    if not isinstance(config, dict):
        raise InputError(f"{file} holds no keys; name a file of the configuration.")
    first_line = text.partition("\n")[0]
    return config, first_line if first_line.startswith("# yaml-language-server:") else ""


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit(str(error))
