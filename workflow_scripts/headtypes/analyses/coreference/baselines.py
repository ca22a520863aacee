"""Baselines of coreference, on the same mentions and candidates as the heads (Clark et al. 2019, Table 2).

Each chooses a candidate for a coreferent mention; that is right if it refers to the same entity. The nearest candidate
is the one whose head word comes last; of several with one head word, the one that starts last, then the longest. What
the baselines see of a mention (its words, its type, number, gender and person in English) is defined in
docs/understand/clark.md.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from headtypes.analyses.coreference.mentions import Anaphor, Span, sentence_with, spans_of
from headtypes.data.kinds.coreference import AnnotatedDocument, AnnotatedSentence

Number = Literal["singular", "plural"]
Gender = Literal["male", "female", "neuter"]


class WordFeatures(NamedTuple):
    """Number and gender, None where unknown, and person (1, 2, 3)."""

    number: Number | None
    gender: Gender | None
    person: int

    def agree(self, other: "WordFeatures") -> bool:
        return self.person == other.person and all(
            None in pair or pair[0] == pair[1] for pair in ((self.number, other.number), (self.gender, other.gender))
        )


def _all(words: str, value: Any) -> dict[str, Any]:
    return dict.fromkeys(words.split(), value)


PRONOUNS: dict[str, WordFeatures] = {
    **_all("i me my mine myself", WordFeatures("singular", None, 1)),
    **_all("we us our ours ourselves", WordFeatures("plural", None, 1)),
    **_all("you your yours yourself yourselves", WordFeatures(None, None, 2)),
    **_all("he him his himself", WordFeatures("singular", "male", 3)),
    **_all("she her hers herself", WordFeatures("singular", "female", 3)),
    **_all("it its itself this that", WordFeatures("singular", "neuter", 3)),
    **_all("they them their theirs themselves themself these those", WordFeatures("plural", None, 3)),
}
# By the feature Number (Ptan: plurals without a singular, such as scissors), or by XPOS.
_NUMBERS: dict[str, Number] = {**_all("Sing NN NNP", "singular"), **_all("Plur Ptan NNS NNPS", "plural")}
_GENDERS: dict[str, Gender] = {
    **_all("mr. mr sir lord king man boy father brother son husband", "male"),
    **_all("mrs. mrs ms. ms miss lady queen woman girl mother sister daughter wife", "female"),
}


def number_of(word: str, feature: str, xpos: str, is_nominal: bool) -> Number | None:
    """Return the number of a head word (in lower case) that is not a pronoun of the list; None where it is unknown.

    feature: the feature Number of Universal Dependencies; xpos: of the Penn Treebank; both empty where there is none.
    """
    if feature in _NUMBERS:
        return _NUMBERS[feature]
    if xpos:
        return _NUMBERS.get(xpos)
    return "plural" if is_nominal and word.endswith("s") and not word.endswith("ss") else "singular"


Type = Literal["pronoun", "proper", "nominal"]
TYPES: tuple[Type, ...] = get_args(Type)


@dataclass(frozen=True)
class Reference(Span):
    """A mention as the baselines see it. words: in lower case."""

    words: tuple[str, ...]
    type: Type
    features: WordFeatures

    @property
    def head_word(self) -> str:
        return self.words[self.head - self.start]


def references(document: AnnotatedDocument, part: range, subwords: Sequence[int] | None = None) -> list[Reference]:
    """Describe the mentions that `mentions.spans_of` gives for the same arguments."""
    return [_reference(document, span, part.start) for span in spans_of(document, part, subwords)]


def type_of(sentence: AnnotatedSentence, start: int, end: int, head: int) -> Type:
    """Return the type of a mention: by UPOS of its head word, else by XPOS, else by a list of pronouns and a
    capital.
    """
    word, upos, xpos = sentence.words[head], sentence.upos[head], sentence.xpos[head]
    if upos or xpos:
        tag, pronouns, names = (upos, ("PRON",), ("PROPN",)) if upos else (xpos, ("PRP", "PRP$"), ("NNP", "NNPS"))
        return "pronoun" if tag in pronouns else "proper" if tag in names else "nominal"
    if start == end and word.lower() in PRONOUNS:
        return "pronoun"
    return "proper" if word[0].isupper() else "nominal"


def _reference(document: AnnotatedDocument, span: Span, part_start: int) -> Reference:
    before, sentence = sentence_with(document, part_start + span.start)
    start, end, head = (part_start + word - before for word in (span.start, span.end, span.head))
    words, type_ = tuple(word.lower() for word in sentence.words[start : end + 1]), type_of(sentence, start, end, head)
    return Reference(**vars(span), words=words, type=type_, features=_features(sentence, start, end, head, type_))


def _features(sentence: AnnotatedSentence, start: int, end: int, head: int, type_: Type) -> WordFeatures:
    word = sentence.words[head].lower()
    if type_ == "pronoun" and word in PRONOUNS:
        features = PRONOUNS[word]
    else:
        number = number_of(word, sentence.numbers[head], sentence.xpos[head], type_ == "nominal")
        # That of the first word that has one.
        words = (word.lower() for word in sentence.words[start : end + 1])
        gender = next((_GENDERS[word] for word in words if word in _GENDERS), None)
        features = WordFeatures(number, gender, person=3)
    return features._replace(number="plural") if _is_coordinated(sentence, start, end, head) else features


def _is_coordinated(sentence: AnnotatedSentence, start: int, end: int, head: int) -> bool:
    if sentence.heads is None or sentence.relations is None:
        return False
    return any(
        sentence.heads[word] == head + 1 and sentence.relations[word].partition(":")[0] == "conj"
        for word in range(start, end + 1)
    )


# Which candidates pass, from the most to the least precise; the nearest of the first sieve that any passes is chosen.
SIEVES: tuple[Callable[[Reference, Reference], bool], ...] = (
    lambda mention, candidate: mention.words == candidate.words,
    lambda mention, candidate: mention.head_word == candidate.head_word,
    lambda mention, candidate: mention.features.agree(candidate.features),
    lambda mention, candidate: True,
)


def nearest_other(anaphor: Anaphor, mentions: Sequence[Reference]) -> Reference | None:
    """Return the mention of the part with the nearest head word, also among those that follow; of two, the earlier
    one.
    """
    own = anaphor.mention
    others = (mention for mention in mentions if mention != own and mention.head != own.head)
    return min(others, key=lambda mention: (abs(mention.head - own.head), mention.head), default=None)


def chance(anaphor: Anaphor) -> float:
    """Return the probability that a head word drawn from those of the candidates is that of an antecedent."""
    return len(anaphor.antecedents) / len(anaphor.candidate_heads)


# Of each mention the nearest candidate; the nearest whose head word is the same string in lower case, if there is one;
# and the nearest of the earliest sieve that any passes.
BASELINES: dict[str, Callable[[Anaphor], Reference | None]] = {
    "nearest": lambda anaphor: _nearest(anaphor.candidates),
    "head_match": lambda anaphor: _nearest(_passing(anaphor, SIEVES[1])),
    "rules": lambda anaphor: next((chosen for sieve in SIEVES if (chosen := _nearest(_passing(anaphor, sieve)))), None),
}


def is_right(anaphor: Anaphor, chosen: Reference | None) -> bool:
    """Tell whether a choice refers to the entity of the mention; none is wrong."""
    return chosen is not None and chosen.entity == anaphor.mention.entity


def _passing(anaphor: Anaphor, passes: Callable[[Reference, Reference], bool]) -> Iterable[Reference]:
    return (candidate for candidate in anaphor.candidates if passes(anaphor.mention, candidate))


def _nearest(candidates: Iterable[Reference]) -> Reference | None:
    return max(candidates, key=lambda candidate: (candidate.head, candidate.start, candidate.end), default=None)
