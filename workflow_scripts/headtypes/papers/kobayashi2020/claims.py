"""Claims of the paper's abstract on BERT, judged on every task on which norms were read.

Sentences that no claim decides: that weights are one of two factors (a definition, `attention.norms`), and that word
alignment can be extracted from a model for translation (no such model is read here).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headtypes.analyses.distances.features import FINE_BINS, SELF_AND_SPECIAL, SHARES, read_features
from headtypes.core.files import StrPath
from headtypes.core.statistics import Evidence
from headtypes.papers import comparison
from headtypes.papers.claims import Claims, Measured, NoVerdictError, Quantities, Quantity
from headtypes.papers.paper import TASK_KEYS, Compared, Key, Published

KINDS = {"special": ("cls", "sep"), "punctuation": ("comma", "period")}


class Shares(Quantities):
    """The percent of all heads' attention that goes to tokens of a kind: `{kind}.weights` and `{kind}.norms`.

    A kind is "special" or "punctuation". Norms are weights times the length of the vector that a token hands over.
    """

    def by_norms_beyond(self, kind: str, times: float) -> Quantity:
        """Return n - `times` * w, where tokens of a kind, say "special", get n % of all norms and w % of weights."""
        names = f"{kind}.norms", f"{kind}.weights"
        if any(name not in self for name in names) or self[names[1]].value == 0:
            raise NoVerdictError(self.otherwise)
        much = "" if times == 1 else f"{times:g} times "
        label = f"percent of norms that {kind} tokens get, less {much}their percent of weights"
        return Quantity(label, self.weighted_sum({names[0]: 1.0, names[1]: -times}), unit="points")


claim = Claims("features")


claim(
    "special-poor",
    place="abstract",
    text="By norms, special tokens get less than half of what they get by weights.",
    wording="contrary to previous studies, BERT pays poor attention to special tokens",
    limit=(
        "no number is given; poor is less than half of the share that weights give them, on which previous studies "
        "rest, and may still be more than even attention gives; special tokens are [CLS] and [SEP]"
    ),
    ask=lambda shares: shares.by_norms_beyond("special", 0.5).below(0),
)

claim(
    "special-less-than-by-weights",
    basis="inferred",
    place="abstract",
    text="By norms, special tokens get less than by weights.",
    wording="contrary to previous studies",
    limit="a smaller share of norms than of weights",
    ask=lambda shares: shares.by_norms_beyond("special", 1).below(0),
)


def compare_files(features: Mapping[Key, StrPath], published: Published, **judging: Any) -> Compared:
    """Return our quantities beside the paper's, and its claims with their verdicts.

    features: {(model, task): path of a file of features}. judging: arguments of `comparison_table`.
    """
    quantities = {key: collect_shares(path, published) for key, path in features.items()}
    theirs = Shares({}, otherwise="the abstract gives no numbers", published=published)
    subjects = []
    for key, ours in quantities.items():
        values = [comparison.value_row(*_said(name), own) for name, own in ours.by_name.items() if name != "n_samples"]
        names = dict(zip(TASK_KEYS, key, strict=True)) | {"n_samples": int(ours["n_samples"].value)}
        subjects.append(comparison.Subject(names, claim, ours, theirs, values))
    table = comparison.comparison_table(subjects, [*TASK_KEYS, *comparison.COLUMNS, "n_samples"], **judging)
    introduction = [
        f"Published: {published.paper}. Only statements of its abstract about {published.model} are judged.",
        "A share is the part of the attention that goes to tokens of one kind, by weights or by the norms of what "
        "tokens hand over, as a mean over all rows, heads and samples. Intervals are over samples.",
        comparison.HOW_CLAIMS_ARE_JUDGED,
    ]
    page = comparison.comparison_page(
        "Beside Kobayashi et al. 2020", introduction, table, TASK_KEYS, claim, published, ["n_samples"]
    )
    return Compared(comparison.tidy_table(quantities, TASK_KEYS), table, page)


def collect_shares(path: StrPath, published: Published) -> Shares:
    """Return the percent of attention, by weights and norms, to special tokens and punctuation: in all heads, by layer.

    path: file of head features. published: the paper's data. Only percents in all heads have intervals (over samples).
    """
    features = read_features(path)
    values, columns = {}, {}
    for of, (name, _) in SHARES.items():
        shares = getattr(features, name)
        for kind, tokens in KINDS.items():
            chosen = [FINE_BINS + SELF_AND_SPECIAL.index(token) for token in tokens]
            by_layer = 100 * shares[..., chosen].sum(axis=-1, dtype=float).mean(axis=-1)
            columns[f"{kind}.{of}"] = by_layer.mean(axis=1)
            layers = enumerate(by_layer.mean(axis=0), start=1)
            values |= {f"layer.{layer}.{kind}.{of}": Measured(float(value)) for layer, value in layers}
    of_samples = np.stack(list(columns.values()), axis=1)

    def interval(weights: Mapping[str, float]) -> Measured:
        vector = np.array([weights.get(name, 0.0) for name in columns])
        return Measured.by(Evidence(of_samples @ vector), over="samples")

    measured = {name: interval({name: 1.0}) for name in columns} | values | {"n_samples": Measured(len(of_samples))}
    return Shares(measured, interval, otherwise="its inputs have no [CLS] and no [SEP]", published=published)


def _said(name: str) -> tuple[str, str, str]:
    *layer, kind, of = name.split(".")
    label = f"percent of {of} that {kind} tokens get"
    return ("by layer", name, f"{label}, layer {layer[1]}") if layer else ("all layers", name, label)
