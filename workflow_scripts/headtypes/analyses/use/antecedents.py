"""Which head finds the antecedents of mentions best, and on which mentions of other documents."""

from collections.abc import Sequence

import numpy as np

from headtypes.analyses.coreference.accuracy import ALL, guessed_mentions, right_guesses
from headtypes.analyses.coreference.baselines import is_right, nearest
from headtypes.analyses.coreference.descriptions import TYPES
from headtypes.analyses.coreference.guesses import CANDIDATES, AntecedentGuesses
from headtypes.analyses.relations.guesses import DIRECTIONS
from headtypes.analyses.use.found import Found, Texts, all_visible, choice
from headtypes.data.kinds.coreference.records import AnnotatedDocument


def find_antecedents(
    documents: Sequence[AnnotatedDocument], guesses: AntecedentGuesses, *, least: int
) -> tuple[list[Found], Texts]:
    """The head that finds antecedents best, of all mentions and of each type, and the parts of documents.

    documents, guesses: as in `accuracy.guessed_mentions`. The head word of a mention looks at those of its antecedents,
        and finds one if it looks at that the most among the mentions before it, as the nearest mention is chosen.
    least: how many mentions of a type there must be.
    Heads are chosen on documents of even index and scored on those of odd index.
    """
    mentions, document = guessed_mentions(documents, guesses)
    right = right_guesses(mentions, guesses)[..., CANDIDATES.index("mentions")]
    seen = guesses.guess[..., CANDIDATES.index("mentions")] >= 0
    types = np.array([each.mention.type for each in mentions])
    by_nearest = np.array([is_right(each, nearest(each)) for each in mentions])
    odd, found = document % 2 == 1, []
    for type_ in (ALL, *TYPES):
        of_type = np.isin(types, [type_]) | (type_ == ALL)
        if of_type.sum() < least or not (of_type & ~odd).any():
            continue
        layer, head, others = choice(right[of_type & ~odd].mean(0))
        scored = np.flatnonzero(of_type & odd & seen[:, layer, head])
        if len(scored):
            found.append(
                Found(
                    *(f"antecedent, {type_}", DIRECTIONS[0], layer, head, right.shape[1:], others),
                    offset=None,
                    words=int((of_type & odd).sum()),
                    text=guesses.part[scored],
                    unit=document[scored],
                    query=np.array([mentions[index].mention.head for index in scored]),
                    keys=[sorted(mentions[index].antecedents) for index in scored],
                    right=right[scored, layer, head] > 0,
                    by_offset=by_nearest[scored],
                )
            )
    spans = zip(guesses.document, guesses.start, guesses.stop, strict=True)
    return found, all_visible([documents[number].words[start:stop] for number, start, stop in spans])
