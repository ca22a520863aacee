"""Rules of the workflow by what they do."""

from headtypes.planning.stages.registry import STAGES

# And so take a GPU where there is one. `tests/unit/planning/test_stages.py` compares both with the rules' scripts.
RUN_A_MODEL = {name for name, stage in STAGES.items() if stage.runs_model}
# Those that read samples or questions, or draw them, by the input that holds them.
READ_TEXTS = {name: stage.reads for name, stage in STAGES.items() if stage.reads}
