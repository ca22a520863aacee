"""What must not be concluded from an experiment, as far as its configuration and its results tell."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from headtypes.core.statistics import ALPHA
from headtypes.pages.summary.page import Paper
from headtypes.papers.claims import NO_VERDICT, OPEN, join
from headtypes.papers.guan2020.tables import least_p


def cautions(
    papers: Sequence[Paper],
    doubtful: Mapping[str, Sequence[str]],
    papers_models: Iterable[str],
    hubs: Iterable[str],
    costs: pd.DataFrame | None,
    finetuned: Sequence[str],
) -> list[str]:
    """A sentence or two on each.

    doubtful: types whose name is doubtful, by model and partition, in words.
    papers_models: of the Hugging Face Hub, those that the papers' numbers are about; hubs: those of the experiment.
    costs: Guan's Table 2, if something was left out; finetuned: models that the workflow made.
    """
    sentences = [
        _of_models(set(hubs), set(papers_models)),
        _of_verdicts(papers),
        _of_names(doubtful),
        _of_random_heads(costs),
        _of_fine_tuning(finetuned),
    ]
    return [sentence for sentence in sentences if sentence]


def _of_models(own: set[str], theirs: set[str]) -> str:
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
    counted = "One verdict is" if undecided == 1 else f"{undecided} verdicts are"
    return (
        f"{counted} open or missing. An open claim is neither confirmed nor refuted: the limit lies inside the "
        "interval, or readings of the paper do not agree. A claim without a verdict could not be judged."
    )


def _of_names(doubtful: Mapping[str, Sequence[str]]) -> str:
    if not doubtful:
        return ""
    named = "; ".join(f"{where}: {join(types)}" for where, types in doubtful.items())
    return (
        "Heads of some types do not look where the name of the type says, so that nothing can be concluded about what "
        f"the papers call so ({named})."
    )


def _of_random_heads(costs: pd.DataFrame | None) -> str:
    if costs is None:
        return ""
    if "control_draws_planned" not in costs:
        return (
            "Types were left out without as many random heads beside them, so that what a type costs may be what any "
            "heads would cost."
        )
    draws, least = int(costs["control_draws_planned"].max()), least_p(costs)
    if least <= ALPHA:
        return (
            "P-values beside random heads are corrected for the number of conditions of each model, but not for the "
            "number of models."
        )
    return (
        f"Random heads were drawn {'once' if draws == 1 else f'at most {draws} times'} for each condition, so that no "
        f"p-value beside them, corrected for the conditions, can be below {least:.2f}: whether a type costs more than "
        "any other heads of the same number is not decided."
    )


def _of_fine_tuning(tuned: Sequence[str]) -> str:
    if not tuned:
        return ""
    return (
        f"{join(tuned)} {'was' if len(tuned) == 1 else 'were each'} fine-tuned once, with one seed. Another seed, or "
        "another processor, gives another model, whose heads, types and costs differ."
    )
