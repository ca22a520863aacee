"""What must not be concluded from an experiment, as far as its configuration and its results tell."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from headtypes.attention.operations import table_of
from headtypes.core.statistics import ALPHA
from headtypes.pages.summary.page import Paper
from headtypes.papers.claims import NO_VERDICT, OPEN, join
from headtypes.planning.plan import Plan


def cautions(
    plan: Plan, papers: Sequence[Paper], doubtful: Mapping[str, Sequence[str]], papers_models: Iterable[str]
) -> list[str]:
    """A sentence or two on each.

    papers:   with their verdicts, as the summary has them.
    doubtful: types whose name is doubtful, by model and partition, in words.
    papers_models: of the Hugging Face Hub, those that the papers' numbers are about.
    """
    found = [
        _of_models(plan, set(papers_models)),
        _of_verdicts(papers),
        _of_names(doubtful),
        _of_random_heads(plan),
        _of_fine_tuning(plan),
        _of_generated(plan),
    ]
    return [sentence for sentence in found if sentence]


def _of_models(plan: Plan, theirs: set[str]) -> str:
    own = {plan.config.models[model].source.hub for model in plan.models}
    if own & theirs:
        return "Verdicts and types are those of the models listed here. Another model has other heads."
    return (
        "None of the models is one that the papers report. Another model has other heads, so a claim that fails here "
        "is not refuted for the papers' models, and one that holds here is not confirmed for them."
    )


def _of_verdicts(papers: Sequence[Paper]) -> str:
    counts = [count for paper in papers for judged in paper.judged for count in judged.counts]
    undecided = sum(count.of[OPEN] + count.of[NO_VERDICT] for count in counts)
    if not undecided:
        return ""
    return (
        f"{undecided} verdicts are open or missing. An open claim is neither confirmed nor refuted: the limit lies "
        "inside the interval. A claim without a verdict could not be judged."
    )


def _of_names(doubtful: Mapping[str, Sequence[str]]) -> str:
    if not doubtful:
        return ""
    named = "; ".join(f"{where}: {join(types)}" for where, types in doubtful.items())
    return (
        "Heads of some types do not look where the name of the type says, so that nothing can be concluded about what "
        f"the papers call so ({named})."
    )


def _of_random_heads(plan: Plan) -> str:
    if not plan.ablated:
        return ""
    draws = plan.config.controls.draws
    if not plan.controlled:
        return (
            "Types were left out without as many random heads beside them, so that what a type costs may be what any "
            "heads would cost."
        )
    in_tables = Counter(
        (it.model, it.partition, table_of(plan.operations(it.condition).values())) for it in plan.controlled
    )
    least = max(in_tables.values()) / (draws + 1)
    if least <= ALPHA:
        return "P-values beside random heads are corrected for the conditions of one table, not for models and scores."
    return (
        f"Random heads were drawn {'once' if draws == 1 else f'at most {draws} times'} for each condition, so that no "
        f"p-value beside them, corrected for the conditions, can be below {least:.2f}: whether a type costs more than "
        "any other heads of the same number is not decided."
    )


def _of_fine_tuning(plan: Plan) -> str:
    tuned = [model for model in plan.models if plan.finetuned(model)]
    if not tuned:
        return ""
    return (
        f"{join(tuned)} {'was' if len(tuned) == 1 else 'were each'} fine-tuned once, with one seed. Another seed, or "
        "another processor, gives another model, whose heads, types and costs differ."
    )


def _of_generated(plan: Plan) -> str:
    tasks = [task for task in plan.tasks if plan.config.tasks[task].source.world is not None]
    if not tasks:
        return ""
    return (
        f"The data of {join(tasks)} are generated, with a small vocabulary and few kinds of sentences. What was found "
        "on them need not hold for natural text."
    )
