"""Data, the samples and questions drawn from them, and questions as windows."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from headtypes.core.stage import TEXT, Given, Plan, Result, Stage, given, stage
from headtypes.data.tasks import KINDS, LANGUAGE_MODEL
from headtypes.models.stage import RECORD


def _answered(plan: Plan) -> list:
    return [*plan.ablations, *(gradient for gradient in plan.gradients if not plan.is_text(gradient.task))]


SECTION = "Inputs and fine-tuned models"


def fetched(rule: str, of: Callable, about: str, place: str, content: str) -> tuple[Result, ...]:
    """Return the declarations of two files that a rule writes for each task: the rows, and a record of their source.

    of: function from a plan to [{"task": name of a task to fetch}]. place: the files' folder below `results/sources`.
    about, content: texts for the documentation that describe both files, and the file of rows.
    """
    declared = partial(Result, rule=rule, of=of, about=about, section=SECTION)
    path = f"results/sources/{place}/{{task}}"
    return (
        declared(f"{path}.jsonl", name="rows", content=content, withheld=TEXT),
        declared(f"{path}.json", name="record", content="where they come from"),
    )


ROWS, ROWS_RECORD = fetched(
    "fetch_task",
    lambda plan: [{"task": task} for task in dict.fromkeys(entry.task for entry in plan.inputs)],
    *("where data come from", "tasks"),
    content="the data of the task",
)
TEST_ROWS, TEST_RECORD = fetched(
    "fetch_test",
    lambda plan: [{"task": task} for task in plan.tasks_of("treebank") if plan.config.tasks[task].source.test_file],
    *("where test sentences come from", "test"),
    content="the sentences of a treebank on which choices are scored",
)
_declared = partial(Result, section=SECTION, withheld=TEXT)
SAMPLES = _declared(
    "results/samples/{task}.jsonl",
    "sample_inputs",
    "samples",
    of=lambda plan: plan.features,
    name="samples",
    content="the samples drawn for the distance features: `id`, and one text or two, `first` and `second`; the "
    "id of a segment is that of its document and its index there, from 0",
)
QUESTIONS = _declared(
    "results/questions/{task}.jsonl",
    "sample_questions",
    "questions, pairs or documents",
    of=_answered,
    name="questions",
    content="the questions, pairs or documents that conditions are evaluated on",
)
WINDOWS = _declared(
    "results/windows/{model}/{task}.h5",
    "prepare_windows",
    "questions as inputs of a model",
    of=_answered,
    name="windows",
    content="these questions as inputs of the model; of a text and of multiple choice, with the tokens to predict",
)
RESULTS = (ROWS, ROWS_RECORD, TEST_ROWS, TEST_RECORD, SAMPLES, QUESTIONS, WINDOWS)


def test(plan: Plan, task: str, **others: str) -> str | list:
    return TEST_ROWS.path.format(task=task) if plan.config.tasks[task].source.test_file else []


def fetching(rule: str, key: Literal["file", "training_file", "test_file"], place: str) -> Stage:
    """Return the declaration of the rule called `rule`, which fetches a task's rows from its `source`.

    key: key of `source` that names a local file; from the Hub, "training_file" selects the split "train", others the
        split in `source`. place: folder below `results/sources` for the file with the rule's time and memory.
    """

    def of_task(plan: Plan, task: str) -> dict:
        entry = plan.config.tasks[task]
        source = entry.source
        if source.hub is not None:
            split = "train" if key == "training_file" else source.split
            where = {"hub": source.hub, "name": source.name, "revision": source.revision, "split": split}
        else:
            where = {"folder": source.folder} if source.file is None else {"file": getattr(source, key)}
        named = KINDS[entry.kind].columns
        columns = {name: value for name, value in given(entry.columns).items() if name in named} or None
        if columns is not None and entry.labels:
            columns["labels"] = entry.labels
        return {"task": task, "kind": entry.kind, "source": where, "columns": columns}

    files = Given("files", lambda plan, task: plan.task_files(task, key))
    how = {"benchmark": f"results/sources/{place}/{{task}}.benchmark.tsv", "local": True, "rule": rule}
    return Stage(of_task, "data.fetching:run", inputs=(files,), **how)


fetch_task = fetching("fetch_task", "file", "tasks")
fetch_test = fetching("fetch_test", "test_file", "test")

_drawn = partial(stage, reads="rows", inputs=(ROWS,), local=True)


@_drawn(calls="data.encoding:run_inputs", benchmark="results/samples/{task}.benchmark.tsv")
def sample_inputs(plan: Plan, task: str) -> dict:
    seed = plan.seed("draw_samples", task)
    return {"kind": plan.kind_of(task).name, "samples": plan.config.tasks[task].samples, "seed": seed}


@_drawn(calls="data.encoding:run_questions", benchmark="results/questions/{task}.benchmark.tsv")
def sample_questions(plan: Plan, task: str) -> dict:
    questions = plan.config.tasks[task].questions
    # All questions are all questions under every seed.
    seed = None if questions == "all" else plan.seed("draw_questions", task)
    return {"questions": questions, "seed": seed}


@stage(reads="questions", calls="data.preparing:run", inputs=(RECORD, QUESTIONS))
def prepare_windows(plan: Plan, model: str, task: str) -> dict:
    kind = plan.kind_of(task)
    shape = {key: getattr(plan.config.windows, key) for key in ("max_seq_length", *kind.window_keys)}
    seed = {"seed": plan.seed("mask_words", task)} if kind.head == LANGUAGE_MODEL else {}
    return {**shape, **encoding_of(plan, task), **seed}


def encoding_of(plan: Plan, task: str) -> dict:
    """Return {"kind": a task's kind} and, if the kind has this key, "max_seq_length", the most tokens of a sample."""
    entry = plan.config.tasks[task]
    kind = KINDS[entry.kind]
    longest = {"max_seq_length": entry.max_seq_length} if "max_seq_length" in kind.keys else {}
    return {"kind": kind.name, **longest}
