"""Mentions as the baselines see them: their words, their types, and what they must agree in.

Clark et al. (2019, section 4.3) define none of these; docs/understand/clark.md has the definitions used here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from headtypes.analyses.coreference.agreement import PRONOUNS, Features, gender_of, number_of
from headtypes.analyses.coreference.mentions import Span, sentence_of, spans_of
from headtypes.data.kinds.coreference.records import AnnotatedDocument, AnnotatedSentence

Type = Literal["pronoun", "proper", "nominal"]
TYPES: tuple[Type, ...] = get_args(Type)


@dataclass(frozen=True)
class Reference(Span):
    """A mention as the baselines see it. words: in lower case."""

    words: tuple[str, ...]
    type: Type
    features: Features

    @property
    def head_word(self) -> str:
        """The head word in lower case."""
        return self.words[self.head - self.start]


def references(document: AnnotatedDocument, part: range, subwords: Sequence[int] | None = None) -> list[Reference]:
    """The mentions that `mentions.spans_of` gives for the same arguments, described."""
    return [_reference(document, span, part.start) for span in spans_of(document, part, subwords)]


def type_of(sentence: AnnotatedSentence, start: int, end: int, head: int) -> Type:
    """The type of a mention: by UPOS of its head word, else by XPOS, else by a list of pronouns and a capital."""
    word, upos, xpos = sentence.words[head], sentence.upos[head], sentence.xpos[head]
    if upos or xpos:
        tag, pronouns, names = (upos, ("PRON",), ("PROPN",)) if upos else (xpos, ("PRP", "PRP$"), ("NNP", "NNPS"))
        return "pronoun" if tag in pronouns else "proper" if tag in names else "nominal"
    if start == end and word.lower() in PRONOUNS:
        return "pronoun"
    return "proper" if word[0].isupper() else "nominal"


def _reference(document: AnnotatedDocument, span: Span, part_start: int) -> Reference:
    before, sentence = sentence_of(document, part_start + span.start)
    start, end, head = (part_start + word - before for word in (span.start, span.end, span.head))
    type_ = type_of(sentence, start, end, head)
    return Reference(
        start=span.start,
        end=span.end,
        head=span.head,
        entity=span.entity,
        words=tuple(word.lower() for word in sentence.words[start : end + 1]),
        type=type_,
        features=_features(sentence, start, end, head, type_),
    )


def _features(sentence: AnnotatedSentence, start: int, end: int, head: int, type_: Type) -> Features:
    word = sentence.words[head].lower()
    if type_ == "pronoun" and word in PRONOUNS:
        features = PRONOUNS[word]
    else:
        number = number_of(word, sentence.numbers[head], sentence.xpos[head], type_ == "nominal")
        gender = gender_of([word.lower() for word in sentence.words[start : end + 1]])
        features = Features(number, gender, person=3)
    return features._replace(number="plural") if _is_coordinated(sentence, start, end, head) else features


def _is_coordinated(sentence: AnnotatedSentence, start: int, end: int, head: int) -> bool:
    if sentence.heads is None or sentence.relations is None:
        return False
    return any(
        sentence.heads[word] == head + 1 and sentence.relations[word].partition(":")[0] == "conj"
        for word in range(start, end + 1)
    )
