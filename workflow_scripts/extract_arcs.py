from snakemake_job import job, warn
from headtypes.analyses.relations.guesses import write_arcs
from headtypes.analyses.relations.measure import extract_arcs
from headtypes.analyses.relations.parts import read_parts
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    arcs = extract_arcs(read_parts(inputs.rows, inputs.test), read_model_record(inputs.model), **spec)
    warn(provenance, [f"{part}: {said}" for part, guesses in arcs.items() for said in guesses.warnings])
    write_arcs(outputs.arcs, arcs, provenance)
