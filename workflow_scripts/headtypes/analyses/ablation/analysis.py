"""The analysis by ablation: the rules and results of a model's answers while some heads are removed or changed."""

from functools import partial
from typing import Any

from headtypes.analyses.declaration import Analysis, samples_of, share_of
from headtypes.analyses.types.analysis import PARTITION
from headtypes.attention.operations import seeded
from headtypes.core.stage import ARTICLES, TEXT, Many, Other, Plan, Result, given, stage
from headtypes.data.stage import QUESTIONS, SAMPLES, WINDOWS
from headtypes.models.stage import RECORD

OF_CONDITION = "results/ablation/{model}/{partition}/{condition}/"
_scored = partial(
    Result, rule="evaluate_condition", about="scores of the model under a condition", of=lambda plan: plan.ablations
)
ANSWERS = _scored(
    OF_CONDITION + "predictions.json",
    name="predictions",
    content="question id to answer, as SQuAD's official evaluator reads it; of multiple choice, the choice by "
    "its whole likelihood; empty for a text",
    withheld=TEXT,
)
METRICS = _scored(
    OF_CONDITION + "metrics.json",
    name="metrics",
    content="the scores, and how many questions they are from; of multiple choice accuracy and "
    "accuracy_normalised; of a text loss, perplexity, and how many documents and tokens",
)
SCORES = _scored(
    OF_CONDITION + "per_question.parquet",
    name="per_question",
    content="the scores of each question, with its article; of multiple choice, what is right and what is "
    "chosen, and the log-likelihood of the right choice; of a text, loss (summed, in nats) and "
    "predicted tokens of each document",
    withheld=TEXT,
)
INTERVALS = Result(
    "results/ablation/{model}/{partition}/intervals.csv",
    "measure_intervals",
    "intervals of all scores and drops",
    of=lambda plan: plan.ablated,
    name="intervals",
    content="intervals of all scores and drops, over questions and over articles, of 99 % over 8 to 19 and none over "
    "fewer; `..._low`, `..._high` over questions, and with `_by_article` over articles",
)
DIFFERENCES = Result(
    "results/ablation/{model}/{partition}/differences.csv",
    "measure_intervals",
    "what conditions cost more than one another",
    of=lambda plan: plan.ablated,
    name="differences",
    content="for each score, `condition` and `other` one, by how much the condition costs more (`difference`), paired, "
    "with its interval over articles, or over questions where these are not known",
)
CONTROLS = Result(
    "results/controls/{model}/{partition}/{condition}.parquet",
    "evaluate_controls",
    "scores of each question with random heads left out",
    of=lambda plan: plan.controlled,
    name="scores",
    content="the same condition on as many random heads of the same layers: scores of each question and `draw`, and "
    "the `overlap` of these heads with the type",
    withheld=ARTICLES,
)
CONTROLS_FIGURE = Result(
    "results/controls/{model}/{partition}.{pdf,png}",
    "plot_controls",
    "drops beside those with random heads",
    of=lambda plan: plan.beside_random_heads,
    content="the drop of each condition beside those of its draws of random heads, and which share of these is its own",
)
OUTPUTS = Result(
    "results/head_outputs/{model}/{task}.h5",
    "measure_head_outputs",
    "mean outputs of heads",
    of=lambda plan: [
        *(ablation for ablation in plan.ablations if plan.needs_head_outputs(ablation.condition)),
        *(plan.company if plan.company_needs_head_outputs else ()),
    ],
    name="head_outputs",
    content="the mean output of each head, for the operation `mean`",
)


@stage("forward", reads="samples", calls="analyses.ablation.evaluation:run_head_outputs", inputs=(RECORD, SAMPLES))
def measure_head_outputs(plan: Plan, model: str, task: str) -> dict:
    return samples_of(plan, task)


def _with_means(plan: Plan, condition: str, **of: str) -> Any:
    return plan.partition(**of) if plan.needs_head_outputs(plan.reading(condition)[0]) else None


_of_partition = partial(Other, find=lambda plan, **of: plan.partition(**of))
_ANSWERED = (
    *(RECORD, PARTITION, _of_partition("questions", QUESTIONS), _of_partition("windows", WINDOWS)),
    # Where the condition replaces a head's output by its mean.
    Other("head_outputs", OUTPUTS, _with_means),
)


@stage(
    "forward",
    reads="questions",
    calls="analyses.ablation.evaluation:run",
    inputs=_ANSWERED,
    benchmark=OF_CONDITION + "benchmark.tsv",
)
def evaluate_condition(plan: Plan, model: str, partition: str, condition: str) -> dict:
    task = plan.partitions[model, partition].task
    return {**_evaluation(plan, model, condition, task), "condition": condition}


@stage(
    calls="analyses.ablation.intervals:run",
    inputs=(Many("scores", SCORES, lambda plan, **of: plan.ablations_of(**of), by="name"),),
    benchmark="results/ablation/{model}/{partition}/intervals.benchmark.tsv",
)
def measure_intervals(plan: Plan, model: str, partition: str) -> dict:
    baseline = plan.baseline(model, partition)
    return {"baseline": baseline and baseline.name}


@stage(
    "forward",
    reads="questions",
    passes=lambda plan, wildcards, rows: plan.config.controls.draws * share_of(plan.config.controls.questions, rows),
    calls="analyses.ablation.evaluation:run_controls",
    inputs=_ANSWERED,
    benchmark="results/controls/{model}/{partition}/{condition}.benchmark.tsv",
    # They take as long as many conditions, which would otherwise come first and leave one of these to run alone.
    priority=1,
)
def evaluate_controls(plan: Plan, model: str, partition: str, condition: str) -> dict:
    task, controls = plan.partitions[model, partition].task, plan.config.controls
    seed = plan.seed("evaluate_controls", model, partition, condition)
    drawn = {"draws": controls.draws, "questions": controls.questions, "seed": seed}
    return {**_evaluation(plan, model, condition, task), "condition": condition, **drawn}


_of_controlled = partial(Many, find=lambda plan, **of: plan.controlled_of(**of), by="name")


@stage(
    calls="analyses.ablation.controls:run",
    inputs=(
        *(_of_controlled("controls", CONTROLS), _of_controlled("scores", SCORES), PARTITION),
        Other("baseline", SCORES, lambda plan, **of: plan.baseline(**of)),
    ),
    benchmark="results/controls/{model}/{partition}.figure.benchmark.tsv",
)
def plot_controls(plan: Plan, model: str, partition: str) -> dict:
    controlled = plan.controlled_of(model, partition)
    return {"conditions": {entry.name: plan.operations(entry.condition) for entry in controlled}}


def _evaluation(plan: Plan, model: str, name: str, task: str) -> dict:
    condition, reading = plan.reading(name, task)
    # The same seed in every condition and partition, so that a head draws alike whatever is done to others.
    operations = {
        target: seeded(operation, plan.seed("resample", model, operation))
        for target, operation in plan.operations(condition).items()
    }
    return {"operations": operations, **answers_of(plan, task, reading)}


def answers_of(plan: Plan, task: str, reading: dict) -> dict:
    """Return the part of a spec on how a task is answered, with the keys kind, reading, precision and batch_tokens.

    Further keys: max_answer_length for question answering; max_seq_length if `reading` sets `uniform_over_padding`.
    reading: {field of `operations.Reading`: value}.
    """
    kind = plan.kind_of(task)
    answers = {key: getattr(plan.config.windows, key) for key in kind.answer_keys}
    if reading.get("uniform_over_padding"):
        # The padding of a full window counts.
        answers["max_seq_length"] = plan.config.windows.max_seq_length
    return {"kind": kind.name, "reading": reading, **answers, **given(plan.config.compute)}


ABLATION = Analysis(
    "ablation",
    "drop without the heads (points)",
    section="What the model can do without",
    results=(ANSWERS, METRICS, SCORES, INTERVALS, DIFFERENCES, CONTROLS, CONTROLS_FIGURE, OUTPUTS),
    line=lambda quantity, statistic: f"{statistic}: {quantity.removeprefix('drop of ').replace('_', ' ')}",
    stages=(measure_head_outputs, evaluate_condition, measure_intervals, evaluate_controls, plot_controls),
)
