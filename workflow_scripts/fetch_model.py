from headtypes.planning.job import job
from headtypes.analyses.types.partition_rows import read_partition_rows
from headtypes.models.architectures import check_model
from headtypes.models.demands import Demands, check_demands
from headtypes.models.fetching import fetch_model
from headtypes.models.outline import outline_of
from headtypes.models.records import write_model_record

with job(snakemake) as (inputs, spec, outputs, _):
    demands = Demands(**spec.pop("demands"))
    model = fetch_model(**spec, made=inputs.made, sha256=demands.sha256)
    check_model(model)
    outline = outline_of(f"models.{model.name}", model.folder, model.pickle, model.gguf)
    check_demands(f"models.{model.name}", outline.with_heads(model.layers, model.heads), demands)
    for file in demands.partitions.values():
        read_partition_rows(file, (model.layers, model.heads))
    write_model_record(outputs.model, model)
