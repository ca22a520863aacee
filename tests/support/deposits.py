"""An experiment as planted results: tables of real size, and text of a corpus wherever results may hold some."""

import json
from pathlib import Path

import pandas as pd
from headtypes.planning.code.digest import code_digest
from headtypes.planning.code.running import remember_code

from headtypes.core.files import canonical_json, write_json, write_text
from headtypes.planning.config.schema import Config, read_config
from headtypes.planning.provenance import RESULTS, provenance_of, record, verified
from headtypes.planning.tools.jobs import Job
from tests.support.places import ROOT
from tests.support.summaries import MODEL, PARTITION, TASK, by_key, made_results, planned

# What stands in the planted text, and in no file that may be given away; in the planted weights; in a path.
TEXT, WEIGHTS, PLACE = "Fernweh zinnober", "Gewicht zinnober", "/home/zinnober/models"
HUB = {"hub": "some/questions", "revision": "ab" * 20, "split": "validation"}
# The rules that make the planted tables and figures; other figures are of types by layer.
_MAKERS = {
    "comparisons": "compare_with_paper",
    "relations": "tabulate_relations",
    "coreference": "tabulate_coreference",
    "probes": "tabulate_probes",
    "types": "tabulate_stability",
    "ablations": "tabulate_ablations",
    "compared": "tabulate_models",
    "partition": "cluster_heads",
    "compared_types": "compare_types",
    "ways": "choose_clustering",
    "best": "choose_clustering",
    "stability": "measure_stability",
    "heads": "plot_heads",
    "examples": "plot_examples",
    "sentences": "plot_sentences",
}


def planted_config() -> Config:
    """A model of the Hub, and one that was fine-tuned from it, on data of the Hub."""
    source = {"hub": HUB["hub"], "split": HUB["split"]}
    base = {"source": {"hub": "some/bert"}, "tasks": [TASK]}
    tuned = {"source": {"finetuned": {"base": "bert", "task": TASK}}, "tasks": [TASK], "evaluate": TASK}
    models, conditions = {"bert": base, MODEL: tuned}, {"baseline": {}, "zero-dense": {"dense": "zero"}}
    return read_config({"tasks": {TASK: {"source": source}}, "models": models, "conditions": conditions})


def planted_jobs() -> list[Job]:
    """The jobs of the experiment, producers first, and their results in the working directory."""
    tables = made_results(RESULTS)
    jobs = [_job("fetch_task", {"task": TASK}, ["results/sources/tasks/qa.jsonl", "results/sources/tasks/qa.json"])]
    write_json("results/sources/tasks/qa.json", {"task": TASK, **HUB, "rows": 3})
    models = {"bert": {"hub": "some/bert", "revision": "cd" * 20}, MODEL: {}}
    for name, origin in models.items():
        path = f"results/sources/models/{name}.json"
        jobs.append(_job("fetch_model", {"model": name}, [path]))
        write_json(path, {"name": name, **origin, "folder": PLACE, "weights": {"model.safetensors": "ef" * 32}})
    write_text(f"results/models/{MODEL}/model.safetensors", WEIGHTS)
    jobs.append(_job("finetune_model", {"model": MODEL}, [f"results/models/{MODEL}"]))
    evaluated = {"model": MODEL, "partition": PARTITION, "condition": "zero-dense+vertical"}
    folder = "results/ablation/{model}/{partition}/{condition}".format(**evaluated)
    scores = [f"{folder}/predictions.json", f"{folder}/metrics.json", f"{folder}/per_question.parquet"]
    inputs = ["results/sources/tasks/qa.jsonl", f"results/sources/models/{MODEL}.json", "results/sources/tasks/qa.json"]
    jobs.append(_job("evaluate_condition", evaluated, scores, inputs))
    write_json(scores[1], {"exact_match": 50.0})
    of_text = {
        "sample_inputs": "results/samples/qa.jsonl",
        "sample_questions": "results/questions/qa.jsonl",
        "map_attention": "results/maps/bert/qa.h5",
        "map_sentences": "results/sentences/bert/qa.h5",
        "write_atlas": "results/atlas/bert.html",
    }
    jobs += [_job(rule, {"task": TASK}, [path], inputs) for rule, path in of_text.items()]
    for name, paths in tables.items():
        jobs += [_job(_MAKERS.get(name, "plot_layers"), _named(name), [path], inputs) for path in paths]
    spec = {
        "models": ["bert", MODEL],
        "tasks": [TASK],
        "generated": [],
        "atlases": ["bert"],
        "partitions": planned(RESULTS),
        "hubs": ["some/bert"],
        "finetuned": [MODEL],
        "seed": 2020,
    }
    named = {**by_key(tables), "captions": _captions()}
    read = [path for paths in tables.values() for path in paths]
    jobs.append(_job("write_summary", {}, ["results/index.html"], read, spec, named))
    for job in jobs:
        for path in job.outputs:
            if not Path(path).exists():
                _plant(Path(path))
        remember_code(RESULTS, job.script)
        made = provenance_of(job.rule, job.wildcards, json.loads(job.spec), job.code, job.inputs)
        record(made, verified(job.inputs), job.outputs, threads=1)
    return jobs


def _plant(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pd.DataFrame([{"id": "1", "article": TEXT, "f1": 1.0}]).to_parquet(path, compression=None)
    else:
        write_text(path, TEXT)


def _captions() -> tuple[str, ...]:
    return tuple(map(str, sorted((ROOT / "report").glob("*.rst"))))


def _named(table: str) -> dict[str, str]:
    return {"model": MODEL, "partition": PARTITION} if table == "partition" else {"of": table}


def _job(rule, wildcards, outputs, inputs=(), spec=None, named=None) -> Job:
    script = ROOT / "workflow_scripts" / f"{rule}.py"
    benchmark = f"results/models/{MODEL}.benchmark.tsv" if rule == "finetune_model" else None
    text = canonical_json(spec or {})
    return Job(
        rule, wildcards, text, code_digest(script), script, tuple(inputs), tuple(outputs), benchmark, named=named or {}
    )
