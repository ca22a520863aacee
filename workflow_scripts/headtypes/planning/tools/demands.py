"""What the configuration asks of models, told when a run is planned for all of them whose files are on the disk."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from headtypes.analyses.types.partition_rows import read_partition_rows
from headtypes.attention.operations import head_of
from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json, read_json
from headtypes.data.kinds.registry import KINDS
from headtypes.models.demands import Demands, check_demands
from headtypes.models.files import gguf_among, place_of
from headtypes.models.outline import Outline, check_outline, outline_of
from headtypes.planning.config.labels import labels_in
from headtypes.planning.config.messages import check_all
from headtypes.planning.plan import Plan
from headtypes.planning.provenance import recorded
from headtypes.planning.stages.models import fetch_model


def demands_of(plan: Plan, model: str) -> Demands:
    """What the selected entries of the configuration ask of a model."""
    ablations = [ablation for ablation in plan.ablations if ablation.model == model]
    partitions = [partition for (name, _), partition in plan.partitions.items() if name == model]
    named = {
        ablation.condition: [head for target in plan.operations(ablation.condition) if (head := head_of(target))]
        for ablation in ablations
    }
    task = plan.config.tasks[plan.config.models[model].evaluate] if ablations else None
    head, file, column = (KINDS[task.kind].head, task.source.file, task.columns.label) if task else (None, None, None)
    labels = labels_in(file, column) if file and column and head == "sequence_classification" else []
    labels = {label: str(task.labels.get(label, label)) for label in labels}
    return Demands(
        sha256=plan.config.models[model].source.sha256,
        head=head,
        labels=(f"tasks.{plan.config.models[model].evaluate}", labels) if labels else None,
        clusters=max((partition.k for partition in partitions if partition.k), default=None),
        named={condition: heads for condition, heads in named.items() if heads},
        partitions={partition.name: partition.file for partition in partitions if partition.file},
        pieces=plan.config.models[model].memory is not None,
    )


def demands_as_text(plan: Plan, model: str) -> str:
    """The demands that differ from the default, as JSON for the job that fetches the model."""
    return canonical_json({name: value for name, value in vars(demands_of(plan, model)).items() if value})


def check_models(plan: Plan, results: Path) -> None:
    """Raise `InputError` where a model whose files are on the disk is not what the configuration asks for.

    results: the folder of results, where the record of a model that was fetched says where it is.
    """
    check_all(*(partial(_check_model, plan, model, results) for model in plan.models))


def _check_model(plan: Plan, model: str, results: Path) -> None:
    key, demands, record = f"config: models.{model}", demands_of(plan, model), _record(plan, model, results)
    weights = list(record["weights"].values()) if record else []
    if demands.sha256 and weights and weights != [demands.sha256]:
        raise InputError(
            f"{key}.source.sha256: it is not that of {record['folder']}, which is {' and '.join(weights)}; correct "
            f"it, or, if the weights have been replaced, delete {results}/sources/models/{model}.json."
        )
    outline = _outline(plan, model, results)
    if outline is None:
        return
    check_outline(key, outline)
    if (plan.config.models[model].units, plan.config.models[model].attention) != ("heads", "encoder"):
        # How many these are is known once the model has been fetched.
        outline = outline.with_heads(*(record[name] if record else None for name in ("layers", "heads")))
    check_demands(key, outline, demands)
    for name, file in demands.partitions.items() if outline.layers and outline.heads else ():
        try:
            read_partition_rows(file, (outline.layers, outline.heads))
        except InputError as error:
            raise InputError(f"config: partitions.{name}.file: {error}") from None


def _outline(plan: Plan, model: str, results: Path) -> Outline | None:
    """What the files of a model say; of one that the workflow has yet to make, what those that it is made of say."""
    source, record = plan.config.models[model].source, _record(plan, model, results)
    folder, gguf = (record["folder"], gguf_among(record["weights"])) if record else place_of(source.model_dump())
    if folder is not None and os.path.isfile(Path(folder, gguf or "config.json")):
        return outline_of(f"config: models.{model}", folder, source.pickle, gguf)
    made_of = source.finetuned.base if source.finetuned else plan.made_by(model)
    base = _outline(plan, made_of, results) if made_of != model else None
    return base and replace(base, tensors={}, labels=None)


def _record(plan: Plan, model: str, results: Path) -> dict | None:
    """The record of a model that was fetched from where the configuration says, and has not changed since."""
    path = results / "sources/models" / f"{model}.json"
    try:
        made, record = recorded(path), read_json(path) if path.is_file() else None
    except InputError:
        return None
    if not made or not isinstance(record, dict) or made["spec"] != fetch_model(plan, model):
        return None
    files = [Path(record["folder"], name) for name in record["weights"]]
    new = [file for file in files if not file.is_file() or file.stat().st_mtime > path.stat().st_mtime]
    return None if new else record
