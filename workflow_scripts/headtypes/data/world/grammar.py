"""Sentences as trees of words, which become text only at the end.

A sentence keeps its dependency tree (Universal Dependencies) and its mentions of entities, so that a treebank
and coreference chains can be written from the same sentences that the tasks consist of.
"""

from dataclasses import dataclass, replace

NO_SPACE_BEFORE = frozenset({",", ".", "?", "'s"})


@dataclass(frozen=True)
class Phrase:
    """A word with its dependents, in surface order: outer_left, before, the word itself, after, outer_right.

    A mention of `entity` covers `before`, the word and `after`; what stands outside (prepositions, appositions) depends
    on the word but is not part of the mention.
    """

    form: str
    upos: str
    relation: str = "root"
    before: tuple["Phrase", ...] = ()
    after: tuple["Phrase", ...] = ()
    outer_left: tuple["Phrase", ...] = ()
    outer_right: tuple["Phrase", ...] = ()
    entity: str | None = None
    mention: str | None = None

    def as_relation(self, relation: str, *outer_left: "Phrase") -> "Phrase":
        """The same phrase in another relation to its head, with more words (a preposition) in front."""
        return replace(self, relation=relation, outer_left=(*outer_left, *self.outer_left))


@dataclass(frozen=True)
class Word:
    """A token of a sentence. head: index of its head in the sentence, -1 for the root."""

    form: str
    upos: str
    head: int
    relation: str


@dataclass(frozen=True)
class Mention:
    """Words [start, end) name the entity. kind: name, short, description or pronoun. head: the head word's index."""

    start: int
    end: int
    head: int
    entity: str
    kind: str


@dataclass(frozen=True)
class Sentence:
    """Words in order, the mentions among them, and the facts that the sentence tells."""

    words: tuple[Word, ...]
    mentions: tuple[Mention, ...]
    facts: tuple = ()

    def spans(self) -> list[tuple[int, int]]:
        """Character offsets (start, end) of every word in `text`."""
        spans, position = [], 0
        for index, word in enumerate(self.words):
            if index and word.form not in NO_SPACE_BEFORE:
                position += 1
            spans.append((position, position + len(word.form)))
            position += len(word.form)
        return spans

    @property
    def text(self) -> str:
        """The sentence as it is written."""
        return join([word.form for word in self.words])


def join(forms: list[str]) -> str:
    """Join tokens into text, with no space before punctuation."""
    return "".join(form if form in NO_SPACE_BEFORE or not i else f" {form}" for i, form in enumerate(forms))


def capital(form: str) -> str:
    """The form with its first letter in upper case."""
    return form[:1].upper() + form[1:]


def sentence(root: Phrase, facts: tuple = ()) -> Sentence:
    """Lay a tree out as a sentence that starts with a capital and ends with a full stop."""
    root = replace(root, outer_right=(*root.outer_right, Phrase(".", "PUNCT", "punct")))
    words: list[list] = []
    mentions: list[Mention] = []

    def place(phrase: Phrase) -> int:
        dependents = [place(child) for child in phrase.outer_left]
        start = len(words)
        dependents += [place(child) for child in phrase.before]
        index = len(words)
        words.append([phrase.form, phrase.upos, -1, phrase.relation])
        dependents += [place(child) for child in phrase.after]
        end = len(words)
        dependents += [place(child) for child in phrase.outer_right]
        for dependent in dependents:
            words[dependent][2] = index
        if phrase.entity is not None:
            mentions.append(Mention(start, end, index, phrase.entity, phrase.mention))
        return index

    place(root)
    words[0][0] = capital(words[0][0])
    mentions.sort(key=lambda mention: (mention.start, -mention.end))
    return Sentence(tuple(Word(*word) for word in words), tuple(mentions), facts)
