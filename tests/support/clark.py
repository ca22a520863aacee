"""The analyses of Clark et al. (2019), computed densely in float64 from their definitions, one head at a time."""

import numpy as np
from scipy.special import rel_entr
from scipy.stats import entropy

# Names of special tokens other than BERT's.
SPECIAL = {"<s>": "[CLS]", "</s>": "[SEP]"}


def named(tokenizer, ids: list[int]) -> list[str]:
    """Tokens by their surface, the special ones by BERT's names."""
    tokens = [token.removeprefix("##").removeprefix("Ġ") for token in tokenizer.convert_ids_to_tokens(ids)]
    return [SPECIAL.get(token, token) for token in tokens]


def with_no_token(rows) -> np.ndarray:
    """Rows of attention with what they lack to one, which goes to no token, as one more key: [row, key + 1]."""
    lacking = 1 - np.sum(rows, axis=1, keepdims=True)
    return np.concatenate([rows, np.where(lacking > 1e-6, lacking, 0)], axis=1)


def defined_surface(attention: np.ndarray, tokens: list[str]) -> dict[str, float]:
    """The surface patterns of one head [query, key] on one segment, and the entropy of uniform attention.

    What is impossible is NaN: a token that the segment lacks, or a pair of which one token does not see the other.
    """
    length = len(tokens)
    sees = attention > 0
    of_cls, of_sep, of_punctuation = (
        [t for t in range(length) if tokens[t] in kinds] for kinds in ({"[CLS]"}, {"[SEP]"}, {",", "."})
    )
    others = [s for s in range(length) if s not in of_sep]

    def offset(by):
        possible = length <= abs(by) or np.diagonal(sees, by).any()
        return np.diagonal(attention, by).sum() / length if possible else np.nan

    def mean_to(rows, keys):
        return attention[np.ix_(rows, keys)].sum(1).mean()

    rows = range(length)
    found = {
        "self": offset(0),
        "previous": offset(-1),
        "next": offset(1),
        "cls": mean_to(rows, of_cls) if of_cls else np.nan,
        "sep": mean_to(rows, of_sep) if of_sep else np.nan,
        "punctuation": mean_to(rows, of_punctuation),
        "sep_to_sep": mean_to(of_sep, of_sep) if of_sep else np.nan,
        "other_to_sep": mean_to(others, of_sep) if of_sep else np.nan,
        "entropy": np.mean(entropy(with_no_token(attention), axis=1)),
        "entropy_cls": np.nan,
        "peak": attention.max(1).mean(),
        "first": mean_to(rows, [0]),
        "uniform": np.log(sees.sum(1)).mean(),
    }
    if of_cls and sees[of_cls[0]].sum() > 1:
        found["entropy_cls"] = entropy(attention[of_cls[0]])
    found["special"] = found["cls"] + found["sep"] + found["punctuation"]
    return found


def defined_divergence(one: np.ndarray, other: np.ndarray, smoothing: float) -> float:
    """Jensen-Shannon divergence of two heads [query, key], summed over the rows of a segment, in nats."""
    # A head of a local layer may look at fewer tokens than one of another layer.
    p, q = (
        with_no_token((1 - smoothing) * head + smoothing * (head > 0) / (head > 0).sum(1, keepdims=True))
        for head in (one, other)
    )
    return 0.5 * sum(rel_entr(head, (p + q) / 2).sum() for head in (p, q))
