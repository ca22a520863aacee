from script_job import call

call(snakemake)
