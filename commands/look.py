"""Where does each head of a model look, in a sentence of yours, and what does the model say without some heads?

python commands/look.py --model NAME [--configfile FILE ...] [--directory FOLDER] [--port N] [TEXT [SECOND TEXT]]

The model is one that the workflow has fetched, and stays loaded until Ctrl-C. In the page, whose address is printed,
texts are typed and heads switched off. What the results hold of the model, such as types, is shown as well.
"""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow_scripts"))

from headtypes.core.errors import InputError
from headtypes.models.placement import MEMORY
from headtypes.models.records import read_model_record
from headtypes.models.stage import RECORD
from headtypes.pages.atlas.live import Live, LiveServer
from headtypes.pages.stage import IN_ATLAS, results_of
from headtypes.planning.config import laid_over, mistakes_in
from headtypes.planning.plan import plan_of


def main(arguments: list[str]) -> None:
    """Serve the page of a model until Ctrl-C, and print the page's address."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a model of the configuration")
    parser.add_argument("--configfile", nargs="+", type=Path, default=[], action="extend", help="laid over config.yaml")
    parser.add_argument("--directory", type=Path, default=Path(), help="where the results are")
    parser.add_argument("--port", type=int, default=0, help="by default one that is free")
    parser.add_argument("text", nargs="?")
    parser.add_argument("second", nargs="?", help="the second text of a pair")
    asked = parser.parse_args(arguments)
    files = [ROOT / "config.yaml", *(file.resolve() for file in asked.configfile)]
    os.chdir(asked.directory)
    plan, record = plan_of(laid_over(files)), Path(RECORD.path.format(model=asked.model))
    if asked.model not in plan.models:
        raise InputError(f"--model: there is no {asked.model}; the configuration has {', '.join(plan.models)}.")
    if not record.exists():
        raise InputError(f"{record} is not there; run snakemake {record} first, with the same configuration.")
    found = {}
    # The distance features shown are those of the text, and conditions are about other texts.
    for kind in IN_ATLAS.keys() - {"features", "intervals"}:
        of_kind = results_of(plan, kind, asked.model).items()
        of_kind = [(name, Path(IN_ATLAS[kind].path.format(**entry.wildcards))) for name, entry in of_kind]
        found[kind] = [(name, file) for name, file in of_kind if file.exists()]
    if memory := plan.memory_of(asked.model):
        MEMORY[asked.model] = memory
    settings = {"precision": plan.config.compute.precision, **plan.config.clustering.features()}
    live = Live(read_model_record(record), found, **settings)
    with LiveServer(live, (asked.text, asked.second), asked.port) as server, suppress(KeyboardInterrupt):
        print(f"{server.address}\nCtrl-C ends it.", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, OSError, OverflowError) as error:
        sys.exit("\n".join(mistakes_in(str(error))))
