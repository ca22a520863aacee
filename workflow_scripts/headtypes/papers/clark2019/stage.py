"""Tables and figures of Clark et al. (BlackboxNLP 2019)."""

from collections.abc import Iterable
from functools import partial

from headtypes.analyses.declaration import words_of
from headtypes.core.results import PICTURED, TEXT, Result
from headtypes.core.stage import Plan, of_inputs_alone, stage
from headtypes.papers.paper import to_read_first


@stage()
def plot_text(plan: Plan, model: str, task: str) -> dict:
    """Whether the published values are drawn beside ours; the seeds of the projection and of intervals."""
    # Named for the rules that once did this.
    projection = {"seed": plan.seed("project_heads", model, task)}
    outputs = {"seed": plan.seed("tabulate_outputs", model, task)}
    return {"beside": is_beside(plan, model), "projection": projection, "outputs": outputs}


plot_gradients = of_inputs_alone("plot_gradients", calls="papers.clark2019.figures.by_layer:run")


@stage()
def tabulate_clark2019(plan: Plan) -> dict:
    """Each model with its treebanks, documents, and treebanks that probes learn from."""
    return {
        "relations": _subjects(plan, plan.inputs_of("treebank")),
        "coreference": _subjects(plan, plan.inputs_of("coreference")),
        "probes": _subjects(plan, plan.probed),
    }


# Of all rows, it reads a few.
@stage("forward", reads="rows", passes=lambda plan, wildcards, rows: 0)
def plot_sentences(plan: Plan, model: str, task: str) -> dict:
    """The kind of task, how tokens become words, and the arithmetic."""
    words = words_of(plan, task)
    return {"kind": plan.kind_of(task).name, **{name: words[name] for name in words if name != "batch_tokens"}}


def _subjects(plan: Plan, entries: Iterable[tuple[str, str]]) -> dict:
    beside = dict.fromkeys(model for model, _ in entries if is_beside(plan, model))
    return {"subjects": list(map(tuple, entries)), "beside": list(beside)}


def _of_words(plan: Plan) -> list:
    return plan.inputs_of("treebank") + plan.inputs_of("coreference")


def is_beside(plan: Plan, model: str) -> bool:
    """Whether the paper's values stand beside those of a model."""
    return "clark2019" in plan.config.models[model].published


_of_text = partial(to_read_first, rule="plot_text", of=lambda plan: plan.texts)
_of_tables = partial(to_read_first, rule="tabulate_clark2019")
RESULTS = (
    _of_text(
        "results/clark2019/{model}/{task}/figure1.{pdf,png}",
        about="heads that show a pattern best",
        content="Clark's Figure 1: heads that show a pattern best",
        withheld=PICTURED,
    ),
    _of_text(
        "results/clark2019/{model}/{task}/figure{2,4}.{pdf,png}",
        about="attention to special tokens and neighbours, and its entropy",
        content="Clark's Figures 2 and 4: attention to special tokens and neighbours, and entropy, by layer",
    ),
    to_read_first(
        "results/clark2019/{model}/{task}/figure3.{pdf,png}",
        "plot_gradients",
        "gradients by kind of token",
        of=lambda plan: [entry for entry in plan.gradients if not plan.is_text(entry.task)],
        content="Clark's Figure 3: gradients by kind of token; also for a task that the model answers",
    ),
    Result(
        "results/clark2019/{model}/{task}/figure3.{pdf,png}",
        "plot_text",
        "gradients by kind of token",
        of=lambda plan: [entry for entry in plan.gradients if plan.is_text(entry.task)],
    ),
    _of_text(
        "results/clark2019/{model}/{task}/figure6.{pdf,png}",
        about="heads in two dimensions, by how differently they attend",
        content="Clark's Figure 6: heads in two dimensions by how differently they attend",
    ),
    Result(
        "results/examples/{model}/{task}.h5",
        "extract_text_features",
        "attention maps with their tokens",
        of=lambda plan: plan.texts,
        name="examples",
        section="Heads and types",
        content="for tasks of text, for Clark's Figure 1: the attention of four heads among the last 15 tokens of one "
        "segment",
        withheld=TEXT,
    ),
    _of_tables(
        "results/clark2019/table1.{csv,tex,md,html}",
        about="dependency relations, Table 1 of Clark et al. (2019)",
        of=lambda plan: [{}] if plan.inputs_of("treebank") else [],
        content="Clark's Table 1: the best head of each dependency relation and the best offset, chosen and scored "
        "on the same sentences (the paper) and on others; `paper`: the paper's name of the relation; "
        "`published_...`; `derived`, `differs`: from which labels a relation is derived, and what differs in "
        "the annotation",
    ),
    _of_tables(
        "results/clark2019/table2.{csv,tex,md,html}",
        about="antecedents, Table 2 of Clark et al. (2019)",
        of=lambda plan: [{}] if plan.inputs_of("coreference") else [],
        content="Clark's Table 2: how often the best head and the baselines select an antecedent, by type of mention "
        "and by `candidates`, the words among which a head's guess is taken; `comparable`: whether the "
        "published value measures the same",
    ),
    _of_tables(
        "results/clark2019/table3.{csv,tex,md,html}",
        about="probes, Table 3 of Clark et al. (2019)",
        of=lambda plan: [{}] if plan.probed else [],
        content="Clark's Table 3: attachment scores of probes and baselines, with the number and the range of the "
        "random starts (`starts`; `least`, `most`); `comparable` as in Table 2",
    ),
    to_read_first(
        "results/clark2019/{model}/{task}/figure5.{pdf,png}",
        "plot_sentences",
        "heads that find relations or antecedents",
        of=_of_words,
        content="Clark's Figure 5: what the heads that are best at relations, or at antecedents, look at in a few "
        "sentences",
        withheld=PICTURED,
    ),
    Result(
        "results/sentences/{model}/{task}.h5",
        "plot_sentences",
        "attention maps with their words",
        of=_of_words,
        name="sentences",
        section="What heads know of language",
        content="for Clark's Figure 5: the attention of the best head of each phenomenon among the words of two "
        "sentences; it contains these words",
        withheld=TEXT,
    ),
)
