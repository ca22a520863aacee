"""Clark et al., "What Does BERT Look At?" (BlackboxNLP 2019): its rules and results, and how it is compared."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import methodcaller
from typing import Any

from headtypes.analyses.coreference import analysis as coreference
from headtypes.analyses.declaration import words_of
from headtypes.analyses.divergence import analysis as divergence
from headtypes.analyses.gradients import analysis as gradients
from headtypes.analyses.probes import analysis as probes
from headtypes.analyses.relations import analysis as relations
from headtypes.analyses.surface import analysis as surface
from headtypes.core.stage import PICTURED, TEXT, Many, Result, Stage, of_inputs_alone, stage
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.paper import (
    Compared,
    Entries,
    Figure,
    Found,
    Paper,
    Plan,
    Tables,
    among,
    if_any,
    paths_by_key,
    shown_texts,
    table_stage,
    to_read_first,
)

# The plan's entries of treebanks, and of documents with coreference.
_treebanks, _coreference = methodcaller("inputs_of", "treebank"), methodcaller("inputs_of", "coreference")


@stage(calls="papers.clark2019.figures:run_surface")
def plot_surface(plan: Plan, model: str, task: str) -> dict:
    return {"beside": bool(_models_of_paper(plan, [model]))}


plot_examples = of_inputs_alone("plot_examples", calls="papers.clark2019.figures:run_examples")
plot_gradients = of_inputs_alone("plot_gradients", calls="papers.clark2019.figures:run_gradients")
plot_divergence = of_inputs_alone("plot_divergence", calls="papers.clark2019.figures:run_divergence")


def _table(name: str, entries: Callable[[Plan], Iterable[Any]], **inputs: Result) -> Stage:
    def beside(plan: Plan) -> dict:
        return {"beside": _models_of_paper(plan, (entry.model for entry in entries(plan)))}

    read = (Many(name, result, entries) for name, result in inputs.items())
    return table_stage("clark2019", *read, calls=f"tables:run_{name}", rule=f"tabulate_{name}")(beside)


tabulate_relations = _table("relations", _treebanks, best=relations.BEST)
tabulate_coreference = _table("coreference", _coreference, accuracies=coreference.TABLE)
tabulate_probes = _table("probes", lambda plan: plan.probed, scores=probes.SCORES, probes=probes.WORDS)


# A job reads a few of all rows.
@stage("forward", reads="rows", passes=lambda plan, wildcards, rows: 0, calls="papers.clark2019.sentences:run")
def plot_sentences(plan: Plan, model: str, task: str) -> dict:
    words = words_of(plan, task)
    return {"kind": plan.kind_of(task).name, **{name: words[name] for name in words if name != "batch_tokens"}}


def _models_of_paper(plan: Plan, models: Iterable[str]) -> list[str]:
    return [model for model in dict.fromkeys(models) if "clark2019" in plan.config.models[model].published]


_of_text = partial(to_read_first, of=lambda plan: plan.texts)
EXAMPLES = Result(
    "results/examples/{model}/{task}.h5",
    "extract_text_features",
    "attention maps with their tokens",
    of=lambda plan: plan.texts,
    name="examples",
    section="Heads and types",
    content="for tasks of text, for Clark's Figure 1: the attention of four heads among the last 15 tokens of one "
    "segment",
    withheld=TEXT,
)
RESULTS = (
    _of_text(
        "results/clark2019/{model}/{task}/figure1.{pdf,png}",
        "plot_examples",
        about="heads that show a pattern best",
        content="Clark's Figure 1: heads that show a pattern best",
        withheld=PICTURED,
    ),
    _of_text(
        "results/clark2019/{model}/{task}/figure{2,4}.{pdf,png}",
        "plot_surface",
        about="attention to special tokens and neighbours, and its entropy",
        content="Clark's Figures 2 and 4: attention to special tokens and neighbours, and entropy, by layer",
    ),
    to_read_first(
        "results/clark2019/{model}/{task}/figure3.{pdf,png}",
        "plot_gradients",
        "gradients by kind of token",
        of=lambda plan: plan.gradients,
        content="Clark's Figure 3: gradients by kind of token; also for a task that the model answers",
    ),
    _of_text(
        "results/clark2019/{model}/{task}/figure6.{pdf,png}",
        "plot_divergence",
        about="heads in two dimensions, by how differently they attend",
        content="Clark's Figure 6: heads in two dimensions by how differently they attend",
    ),
    EXAMPLES,
    to_read_first(
        "results/clark2019/table1.{csv,tex,md,html}",
        "tabulate_relations",
        about="dependency relations, Table 1 of Clark et al. (2019)",
        of=if_any(_treebanks),
        content="Clark's Table 1: the best head of each dependency relation and the best offset, chosen and scored "
        "on the same sentences (the paper) and on others; `paper`: the paper's name of the relation; "
        "`published_...`, with a `remark`; `derived`, `differs`: from which labels a relation is derived, and "
        "what differs in the annotation",
    ),
    to_read_first(
        "results/clark2019/table2.{csv,tex,md,html}",
        "tabulate_coreference",
        about="antecedents, Table 2 of Clark et al. (2019)",
        of=if_any(_coreference),
        content="Clark's Table 2: how often the best head and the baselines select an antecedent, by type of mention "
        "and by `candidates`, the words among which a head's guess is taken; `comparable`: whether the "
        "published value measures the same",
    ),
    to_read_first(
        "results/clark2019/table3.{csv,tex,md,html}",
        "tabulate_probes",
        about="probes, Table 3 of Clark et al. (2019)",
        of=if_any(lambda plan: plan.probed),
        content="Clark's Table 3: attachment scores of probes and baselines, with the number and the range of the "
        "random starts (`starts`; `least`, `most`); `comparable` as in Table 2",
    ),
    to_read_first(
        "results/clark2019/{model}/{task}/figure5.{pdf,png}",
        "plot_sentences",
        "heads that find relations or antecedents",
        of=lambda plan: _treebanks(plan) + _coreference(plan),
        content="Clark's Figure 5: what the heads that are best at relations, or at antecedents, look at in a few "
        "sentences",
        withheld=PICTURED,
    ),
)


def _sentences(plan: Plan) -> list[Any]:
    return [*_treebanks(plan)[:1], *_coreference(plan)[:1]]


def _figure(number: int, name: str, title: str, entries: Entries = shown_texts) -> Figure:
    path = f"results/clark2019/{{model}}/{{task}}/figure{number}.png"
    return Figure(name, path, entries, f"Clark's Figure {number}. {title}", f"clark_figure{number}")


def _tables(number: int, name: str, entries: Entries, show: str, *columns: str) -> Tables:
    def shown(path: str) -> Iterable[Any]:
        from headtypes.papers.clark2019 import tables
        from headtypes.papers.comparison import read_named

        return getattr(tables, show)(read_named(path, "task", *columns))

    return Tables(name, f"results/clark2019/table{number}.csv", if_any(entries), shown)


class _Clark2019(Paper):
    published = Clark2019
    name = "clark2019"
    authors = "Clark et al."
    title = "2019: What Does BERT Look At?"
    subject = "task"
    row = "base, the only one"
    judged = "text, treebank and set of documents of every model, with the kind of token that each layer looks at most"
    stages = (
        *(plot_examples, plot_surface, plot_gradients, plot_sentences, plot_divergence),
        *(tabulate_relations, tabulate_coreference, tabulate_probes),
    )
    results = RESULTS
    figures = (
        _figure(1, "examples", "Examples of patterns"),
        _figure(2, "surface_2", "Attention to special tokens and neighbours"),
        _figure(3, "gradients", "Gradients by kind of token", among(shown_texts, lambda plan: plan.gradients)),
        _figure(4, "surface_4", "Entropy of attention"),
        _figure(5, "sentences", "Heads that find relations or antecedents", _sentences),
        _figure(6, "divergence", "Heads by their distances"),
    )
    tables = (
        _tables(1, "relations", _treebanks, "relation_tables", "left_out"),
        _tables(2, "coreference", _coreference, "coreference_tables"),
        _tables(3, "probes", lambda plan: plan.probed, "probe_tables"),
    )
    judges_tasks = True

    def inputs(self, plan: Plan) -> dict[tuple[str, ...], str]:
        return {
            **paths_by_key("surfaces", surface.PATTERNS, plan.texts),
            **paths_by_key("gradients", gradients.TABLE, [entry for entry in plan.texts if entry in plan.gradients]),
            **paths_by_key("fits", divergence.PROJECTION_FIT, plan.texts),
            **paths_by_key("divergences", divergence.PAIRS, plan.texts),
            **paths_by_key("relations", relations.SUMS, _treebanks(plan)),
            **paths_by_key("probes", probes.SUMS, plan.probed),
            **paths_by_key("coreference", coreference.SUMS, _coreference(plan)),
        }

    def spec(self, plan: Plan) -> dict:
        return {"beside": _models_of_paper(plan, plan.models)}

    def compare(self, found: Found, published: Clark2019, spec: Mapping[str, Any]) -> Compared:
        from headtypes.papers.clark2019.comparison import compare_files

        return compare_files(found, published, **spec)

    def finding(self, table: Any, model: str) -> str:
        sinks = table[table.index.str.match(r"sink\.\d+$")]
        if len(sinks):
            id_ = sinks["ours"].idxmax()
            token = sinks.loc[id_, "quantity"].removeprefix("attention to ").partition(", in layer")[0]
            share, layer = sinks.loc[id_, "ours"], id_.partition(".")[2]
            return (
                f"Heads of {model} look most at {token} in layer {layer}, with {100 * share:.0f} % of their attention."
            )
        if "probe.attention_and_words" in table.index:
            score = table.loc["probe.attention_and_words", "ours"]
            probe = f"A probe on the attention of {model} and words"
            return f"{probe} attaches {score:.1f} % of words to their syntactic heads."
        return ""


CLARK2019 = _Clark2019()
