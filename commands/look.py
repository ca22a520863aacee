"""Where does each head of a model look, in a sentence of yours? Writes the page of the model's atlas for this text.

python commands/look.py --model NAME [--configfile FILE ...] [--directory FOLDER] [--output FILE] TEXT [SECOND TEXT]
python commands/look.py --model NAME [--configfile FILE ...] [--directory FOLDER] --serve [--port N] [TEXT [SECOND]]

The model is one of the configuration's. What the results hold of it, such as types, is shown as well. With --serve the
model stays loaded until Ctrl-C: in the page, whose address is printed, texts are typed and heads switched off.
"""

import argparse
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow_scripts"))

from headtypes.core.errors import InputError
from headtypes.core.texts import check_text
from headtypes.data.records import Sample
from headtypes.models.fetching import fetch_model
from headtypes.models.placement import limit
from headtypes.models.records import ModelRecord, read_model_record
from headtypes.pages.atlas.live import NAME, Live
from headtypes.pages.atlas.live_server import LiveServer
from headtypes.pages.atlas.look import look_at
from headtypes.pages.atlas.page import write_page
from headtypes.planning.config.messages import mistakes_in
from headtypes.planning.plan import Plan, plan_of_files
from headtypes.planning.resources import memory_of
from headtypes.planning.results import paths
from headtypes.planning.stages.overview import atlas
from headtypes.planning.stages.registry import STAGES


def main(arguments: list[str]) -> None:
    """Write the page, and print where it is."""
    asked = _parser().parse_args(arguments)
    files = [ROOT / "config.yaml", *(file.resolve() for file in asked.configfile)]
    shown = asked.output or asked.directory / "results" / "look" / f"{asked.model}.html"
    output = shown.resolve()
    os.chdir(asked.directory)
    plan = plan_of_files(files)
    if asked.model not in plan.models:
        raise InputError(f"--model: there is no {asked.model}; the configuration has {', '.join(plan.models)}.")
    if output.is_dir():
        raise InputError(f"--output: {shown} is a folder; name a file in it.")
    texts = asked.text, asked.second
    for text in texts:
        if text is not None and not check_text(text, "the text").strip():
            raise InputError("The text is empty; write one.")
    if asked.text is None and not asked.serve:
        raise InputError("The text is missing; write one, or --serve.")
    record, found = _record(plan, asked.model), _found(plan, asked.model)
    limit(asked.model, memory_of(plan, asked.model))
    settings = {"precision": plan.config.compute.precision, **plan.config.clustering.features()}
    if asked.serve:
        _serve(Live(record, found, **settings), texts, asked.port)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        data = look_at(record, Sample(NAME, *texts), found, **settings)
        write_page(output, data, {"model": asked.model, "text": [*texts]})
        print(shown)


def _serve(live: Live, texts: tuple[str | None, str | None], port: int) -> None:
    """Answer the page until Ctrl-C, or until the process is told to end."""
    # Also where it was started in the background by a shell, which has it ignore the first.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with LiveServer(live, live.example if texts[0] is None else texts, port) as server, suppress(KeyboardInterrupt):
        print(f"{server.address}\nCtrl-C ends it.", flush=True)
        server.serve_forever()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a model of the configuration")
    parser.add_argument("--configfile", nargs="+", type=Path, default=[], action="extend", help="laid over config.yaml")
    parser.add_argument("--directory", type=Path, default=Path(), help="where the results are")
    parser.add_argument("--output", type=Path, help="the page; by default results/look/NAME.html of the results")
    parser.add_argument("--serve", action="store_true", help="keep the model loaded, and switch off heads in the page")
    parser.add_argument("--port", type=int, default=0, help="with --serve; by default one that is free")
    parser.add_argument("text", nargs="?")
    parser.add_argument("second", nargs="?", help="the second text of a pair")
    return parser


def _record(plan: Plan, model: str) -> ModelRecord:
    """The model as the results have it; else as it is found now."""
    record = Path(paths.MODEL.format(model=model))
    if record.exists():
        return read_model_record(record)
    if plan.is_made(model):
        raise InputError(f"{model} is made by the workflow, and {record} is not there; run snakemake {record} first.")
    return fetch_model(**STAGES["fetch_model"](plan, model), sha256=plan.config.models[model].source.sha256)


def _found(plan: Plan, model: str) -> dict[str, list[tuple[str, Path]]]:
    """The results of the model that are there."""
    found = {}
    for kind, result in atlas.SHOWN.items():
        # The distance features shown are those of the text, and conditions are about other texts.
        if kind != "features" and kind not in atlas.OF_CONDITIONS:
            entries = atlas.results_of(plan, kind, model)
            files = {name: Path(result.path.format(**entry.wildcards)) for name, entry in entries.items()}
            found[kind] = [(name, file) for name, file in files.items() if file.exists()]
    return found


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit("\n".join(mistakes_in(str(error))))
