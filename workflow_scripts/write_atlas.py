from script_job import job
from headtypes.analyses.maps.results import AttentionMaps
from headtypes.core.files import write_text
from headtypes.core.hdf5_files import read_groups
from headtypes.models.records import read_model_record
from headtypes.pages.atlas.data import gather
from headtypes.pages.atlas.page import PAGES, page_of

with job(snakemake) as (inputs, spec, outputs, provenance):
    maps = [(task, list(read_groups(path, AttentionMaps).values())) for task, path in inputs.maps.items()]
    found = {kind: list(inputs[kind].items()) for kind in spec.pop("kinds")}
    data = gather(read_model_record(inputs.model), maps, found, **spec)
    write_text(outputs.page, page_of(data, provenance, links=PAGES))
