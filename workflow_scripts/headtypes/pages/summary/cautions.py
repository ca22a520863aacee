"""What must not be concluded from an experiment, as far as its configuration and its results tell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
) -> Iterator[str]:
    """A sentence or two on each.

    doubtful: types whose name is doubtful, by model and partition, in words.
    papers_models: of the Hugging Face Hub, those that the papers' numbers are about; hubs: those of the experiment.
    costs: Guan's Table 2, if something was left out; finetuned: models that the workflow made.
    """
    if set(hubs) & set(papers_models):
        yield "Verdicts and types are those of the models listed here. Another model has other heads."
    else:
        yield (
            "None of the models is one that the papers report. Another model has other heads, so a claim that fails "
            "here is not refuted for the papers' models, and one that holds here is not confirmed for them."
        )
    counts = [count for paper in papers for judged in paper.judged for count in judged.counts]
    if undecided := sum(count.of[OPEN] + count.of[NO_VERDICT] for count in counts):
        yield (
            f"{'One verdict is' if undecided == 1 else f'{undecided} verdicts are'} open or missing. An open claim is "
            "neither confirmed nor refuted: the limit lies inside the interval, or readings of the paper do not agree. "
            "A claim without a verdict could not be judged."
        )
    if doubtful:
        named = "; ".join(f"{where}: {join(types)}" for where, types in doubtful.items())
        yield (
            "Heads of some types do not look where the name of the type says, so that nothing can be concluded about "
            f"what the papers call so ({named})."
        )
    if costs is not None:
        yield _of_random_heads(costs)
    if finetuned:
        yield (
            f"{join(finetuned)} {'was' if len(finetuned) == 1 else 'were each'} fine-tuned once, with one seed. "
            "Another seed, or another processor, gives another model, whose heads, types and costs differ."
        )


def _of_random_heads(costs: pd.DataFrame) -> str:
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
