"""Baselines of coreference, on the same mentions and candidates as the heads (Clark et al. 2019, Table 2).

Each chooses a candidate for a coreferent mention; that is right if it refers to the same entity. The nearest candidate
is the one whose head word comes last; of several with one head word, the one that starts last, then the longest.
"""

from collections.abc import Callable, Iterable, Sequence

from headtypes.analyses.coreference.descriptions import Reference
from headtypes.analyses.coreference.mentions import Anaphor

# Which candidates pass, from the most to the least precise; the nearest of the first sieve that any passes is chosen.
SIEVES: tuple[Callable[[Reference, Reference], bool], ...] = (
    lambda mention, candidate: mention.words == candidate.words,
    lambda mention, candidate: mention.head_word == candidate.head_word,
    lambda mention, candidate: mention.features.agree(candidate.features),
    lambda mention, candidate: True,
)


def nearest(anaphor: Anaphor[Reference]) -> Reference | None:
    """The nearest candidate."""
    return _nearest(anaphor.candidates)


def head_match(anaphor: Anaphor[Reference]) -> Reference | None:
    """The nearest candidate whose head word is the same string in lower case; None if there is none."""
    return _nearest(_passing(anaphor, SIEVES[1]))


def rules(anaphor: Anaphor[Reference]) -> Reference | None:
    """The nearest candidate of the earliest sieve that any passes."""
    return next((chosen for sieve in SIEVES if (chosen := _nearest(_passing(anaphor, sieve)))), None)


def nearest_other(anaphor: Anaphor[Reference], mentions: Sequence[Reference]) -> Reference | None:
    """The mention with the nearest head word, also of those that follow; of two, the earlier one.

    mentions: all of the part. This is another reading of `nearest`, for a remark beside it.
    """
    own = anaphor.mention
    others = (mention for mention in mentions if mention != own and mention.head != own.head)
    return min(others, key=lambda mention: (abs(mention.head - own.head), mention.head), default=None)


def chance(anaphor: Anaphor) -> float:
    """The probability that a head word drawn from those of the candidates is that of an antecedent."""
    return len(anaphor.antecedents) / len(anaphor.candidate_heads)


BASELINES: dict[str, Callable[[Anaphor[Reference]], Reference | None]] = {
    "nearest": nearest,
    "head_match": head_match,
    "rules": rules,
}


def is_right(anaphor: Anaphor[Reference], chosen: Reference | None) -> bool:
    """Whether a choice refers to the entity of the mention; none is wrong."""
    return chosen is not None and chosen.entity == anaphor.mention.entity


def _passing(anaphor: Anaphor[Reference], passes: Callable[[Reference, Reference], bool]) -> Iterable[Reference]:
    return (candidate for candidate in anaphor.candidates if passes(anaphor.mention, candidate))


def _nearest(candidates: Iterable[Reference]) -> Reference | None:
    return max(candidates, key=lambda candidate: (candidate.head, candidate.start, candidate.end), default=None)
