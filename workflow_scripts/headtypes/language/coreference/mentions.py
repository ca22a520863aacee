"""Mentions of a part of a document: their head words, types, candidates and antecedents.

Clark et al. (2019, section 4.3) define none of these; docs/understand/method.md has the definitions used here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from headtypes.language.coreference.agreement import PRONOUNS, Features, gender_of, number_of
from headtypes.language.coreference.phrases import head_by_parse
from headtypes.tasks.coreference.records import AnnotatedDocument, AnnotatedSentence, Mention

Type = Literal["pronoun", "proper", "nominal"]
TYPES: tuple[Type, ...] = get_args(Type)
# Where neither a tree nor a parse tells the head word, it stands before the first of these.
_PREPOSITIONS = ("of", "in", "on", "at", "to", "for", "with", "by", "from", "about")
_AFTER_HEAD = frozenset((*_PREPOSITIONS, "who", "which", "that", "where", ",", "--", ";", ":"))


@dataclass(frozen=True)
class Reference:
    """A mention as the baselines see it. Words are counted from 0 in the part.

    words:    in lower case; head: the place of the head word; start, end: of the first and the last word.
    """

    start: int
    end: int
    head: int
    entity: str
    words: tuple[str, ...]
    type: Type
    features: Features

    @property
    def head_word(self) -> str:
        """The head word in lower case."""
        return self.words[self.head - self.start]


@dataclass(frozen=True)
class Anaphor:
    """A coreferent mention of a part: one that has an antecedent.

    candidates:  mentions of the part that end before it starts, in the order of the document.
    antecedents: head words of the candidates that have its entity.
    """

    mention: Reference
    candidates: tuple[Reference, ...]
    antecedents: frozenset[int]

    @property
    def candidate_heads(self) -> list[int]:
        """The head words of the candidates, each once, in rising order."""
        return sorted({candidate.head for candidate in self.candidates})


def references(document: AnnotatedDocument, part: range, pieces: Sequence[int] | None = None) -> list[Reference]:
    """The mentions that lie wholly inside of a part, in their order.

    part:   words of the document, as `parts.parts_of` gives them.
    pieces: number of pieces of each word of the document; a mention whose head word has none is left out, since no
        model can look at it.
    """
    inside, sentences = [], _with_starts(document)
    for mention in document.mentions:
        if mention.start < part.start or mention.end >= part.stop:
            continue
        before, sentence = next(entry for entry in reversed(sentences) if entry[0] <= mention.start)
        reference = _reference(sentence, mention, mention.start - before, mention.end - before, part.start)
        if pieces is None or pieces[reference.head + part.start]:
            inside.append(reference)
    return inside


def anaphors(mentions: Iterable[Reference]) -> list[Anaphor]:
    """The coreferent mentions of a part, given all of its mentions."""
    mentions, coreferent = list(mentions), []
    for mention in mentions:
        candidates = tuple(other for other in mentions if other.end < mention.start)
        antecedents = frozenset(other.head for other in candidates if other.entity == mention.entity)
        if antecedents:
            coreferent.append(Anaphor(mention, candidates, antecedents))
    return coreferent


def head_of(sentence: AnnotatedSentence, start: int, end: int) -> int:
    """The head word of the words start ... end of a sentence, counted from 0.

    With a dependency tree, the word whose head is not among them; of several, the one nearest to the root, then the
    first. With a parse, by Collins' rules for noun phrases. With neither, the last word before the first preposition,
    relative pronoun or mark (`_AFTER_HEAD`) that is not the first word.
    """
    if sentence.heads is not None:
        heads = sentence.heads
        tops = [word for word in range(start, end + 1) if not start <= heads[word] - 1 <= end]
        return min(tops, key=lambda word: (_depth(heads, word), word))
    if sentence.parse is not None:
        return head_by_parse(sentence.parse, sentence.xpos, start, end + 1)
    after = (word for word in range(start + 1, end + 1) if sentence.words[word].lower() in _AFTER_HEAD)
    return next(after, end + 1) - 1


def type_of(sentence: AnnotatedSentence, start: int, end: int, head: int) -> Type:
    """The type of a mention: by UPOS of its head word, else by XPOS, else by a list of pronouns and a capital."""
    word, upos, xpos = sentence.words[head], sentence.upos[head], sentence.xpos[head]
    if upos or xpos:
        tag, pronouns, names = (upos, ("PRON",), ("PROPN",)) if upos else (xpos, ("PRP", "PRP$"), ("NNP", "NNPS"))
        return "pronoun" if tag in pronouns else "proper" if tag in names else "nominal"
    if start == end and word.lower() in PRONOUNS:
        return "pronoun"
    return "proper" if word[0].isupper() else "nominal"


def _reference(sentence: AnnotatedSentence, mention: Mention, start: int, end: int, part_start: int) -> Reference:
    head = head_of(sentence, start, end)
    words = tuple(word.lower() for word in sentence.words[start : end + 1])
    type_ = type_of(sentence, start, end, head)
    return Reference(
        start=mention.start - part_start,
        end=mention.end - part_start,
        head=mention.start - part_start + head - start,
        entity=mention.entity,
        words=words,
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


def _depth(heads: Sequence[int], word: int) -> int:
    depth = 0
    while heads[word]:
        word, depth = heads[word] - 1, depth + 1
    return depth


def _with_starts(document: AnnotatedDocument) -> list[tuple[int, AnnotatedSentence]]:
    """The sentences, each with the place of its first word in the document."""
    entries, start = [], 0
    for sentence in document.sentences:
        entries.append((start, sentence))
        start += len(sentence.words)
    return entries
