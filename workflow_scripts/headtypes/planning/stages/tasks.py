"""Data, the samples and questions drawn from them, and questions as windows."""

from headtypes.core.seeds import derive_seed
from headtypes.data.kinds.registry import KINDS
from headtypes.planning.plan import Plan
from headtypes.planning.stages.data import encoding_of, source_of
from headtypes.planning.stages.stage import stage


@stage()
def fetch_task(plan: Plan, task: str) -> dict:
    """Where the data come from, and which columns hold what."""
    return source_of(plan, task, "evaluated")


@stage()
def fetch_test(plan: Plan, task: str) -> dict:
    """Where the sentences come from on which choices are scored."""
    return source_of(plan, task, "test")


@stage(reads="rows")
def sample_inputs(plan: Plan, task: str) -> dict:
    """How many samples."""
    seed = derive_seed(plan.config.seed, "draw_samples", task)
    return {"kind": plan.config.tasks[task].kind, "samples": plan.config.tasks[task].samples, "seed": seed}


@stage(reads="rows")
def sample_questions(plan: Plan, task: str) -> dict:
    """How many questions."""
    questions = plan.config.tasks[task].questions
    # All questions are all questions under every seed.
    seed = None if questions == "all" else derive_seed(plan.config.seed, "draw_questions", task)
    return {"questions": questions, "seed": seed}


@stage("encoding", reads="questions")
def prepare_windows(plan: Plan, model: str, task: str) -> dict:
    """The shape of a window; of a text, that of its samples, and the seed of the words that are hidden."""
    kind = KINDS[plan.config.tasks[task].kind]
    if plan.is_text(task):
        return {**encoding_of(plan, task), "seed": derive_seed(plan.config.seed, "mask_words", task)}
    shape = {key: getattr(plan.config.windows, key) for key in ("max_seq_length", *kind.window_keys)}
    return {"kind": kind.name, **shape}
