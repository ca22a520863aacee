"""The people, places, works, events and things of the generated world, and how they are named."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headtypes.core.errors import InputError
from headtypes.data.world import inventory as words
from headtypes.data.world.grammar import Phrase, join

SPLITS = ("train", "dev")
TOPICS = ("person", "town", "work", "event")
_TRAIN_SHARE = 0.65


@dataclass(frozen=True)
class Entity:
    """Something that facts are about.

    kind: what questions ask for (person, town, year, ...). sort: a finer word for it (woman, novel, fair, ...). words:
    (form, universal part of speech, relation to the head word) in order; head: the head word's index.
    """

    kind: str
    sort: str
    words: tuple[tuple[str, str, str], ...]
    head: int

    @property
    def name(self) -> str:
        """The full name as text."""
        return join([form for form, _, _ in self.words])

    @property
    def key(self) -> str:
        """Identifies the entity within an article."""
        return f"{self.kind}:{self.name}"

    @property
    def pronoun(self) -> str:
        """The personal pronoun for the entity, nominative."""
        return {"woman": "she", "man": "he"}.get(self.sort, "it")

    @property
    def possessive(self) -> str:
        """The possessive pronoun for the entity."""
        return {"woman": "her", "man": "his"}.get(self.sort, "its")

    def phrase(self) -> Phrase:
        """The full name as a phrase."""
        parts = [Phrase(*word) for word in self.words]
        form, upos, _ = self.words[self.head]
        return Phrase(
            form,
            upos,
            before=tuple(parts[: self.head]),
            after=tuple(parts[self.head + 1 :]),
            entity=self.key,
            mention="name",
        )

    def pronoun_phrase(self) -> Phrase:
        """The pronoun as a phrase."""
        return Phrase(self.pronoun, "PRON", entity=self.key, mention="pronoun")

    def short_phrase(self) -> Phrase:
        """The surname of a person, or `the` and the sort of anything else."""
        if self.kind == "person":
            return Phrase(self.words[-1][0], "PROPN", entity=self.key, mention="short")
        article = Phrase("the", "DET", "det")
        return Phrase(self.sort, "NOUN", before=(article,), entity=self.key, mention="description")


def split_number(split: str) -> int:
    """The index of a split in `SPLITS`. Raises `InputError` for any other name."""
    if split not in SPLITS:
        raise InputError(f"A split of the generated world is one of {', '.join(SPLITS)}, not {split!r}.")
    return SPLITS.index(split)


def article_for(form: str) -> str:
    """The indefinite article that goes before a word."""
    return "an" if form[0] in "aeiou" else "a"


def _person(draw: Callable, share: Callable) -> Entity:
    sort = draw(("woman", "man"))
    given = draw(words.WOMEN if sort == "woman" else words.MEN)
    return Entity("person", sort, ((given, "PROPN", ""), (draw(share("surname")), "PROPN", "flat")), 0)


def _town(draw: Callable, share: Callable) -> Entity:
    name = (draw(share("town")), "PROPN", "")
    if draw(range(4)):
        return Entity("town", "town", (name,), 0)
    return Entity("town", "town", ((draw(words.TOWN_SIDES), "PROPN", "compound"), name), 1)


def _work(draw: Callable, share: Callable) -> Entity:
    adjective, noun = draw(share("work"))
    title = (("The", "DET", "det"), (adjective, "ADJ", "amod"), (noun, "PROPN", ""))
    return Entity("work", draw(words.WORK_SORTS), title, 2)


def _event(draw: Callable, share: Callable) -> Entity:
    noun, head = draw(share("event"))
    return Entity("event", head.lower(), (("the", "DET", "det"), (noun, "PROPN", "compound"), (head, "PROPN", "")), 2)


def _river(draw: Callable, share: Callable) -> Entity:
    name = (("the", "DET", "det"), ("River", "PROPN", ""), (draw(share("river")), "PROPN", "flat"))
    return Entity("river", "river", name, 1)


def _prize(draw: Callable, share: Callable) -> Entity:
    noun, head = draw(share("prize"))
    return Entity("prize", "prize", (("the", "DET", "det"), (noun, "PROPN", "compound"), (head, "PROPN", "")), 2)


def _described(kind: str, modifiers: tuple[str, ...], relation: str, nouns: tuple[str, ...]) -> Callable:
    def make(draw: Callable, share: Callable) -> Entity:
        modifier, noun = draw(modifiers), draw(nouns)
        upos = "ADJ" if relation == "amod" else "NOUN"
        name = ((article_for(modifier), "DET", "det"), (modifier, upos, relation), (noun, "NOUN", ""))
        return Entity(kind, kind, name, 2)

    return make


def _profession(draw: Callable, share: Callable) -> Entity:
    noun = draw(words.PROFESSIONS)
    return Entity("profession", "profession", ((article_for(noun), "DET", "det"), (noun, "NOUN", "")), 1)


def _bare(kind: str, nouns: tuple[str, ...], upos: str) -> Callable:
    return lambda draw, share: Entity(kind, kind, ((draw(nouns), upos, ""),), 0)


def _amount(kind: str, numbers: tuple[str, ...], nouns: tuple[str, ...]) -> Callable:
    def make(draw: Callable, share: Callable) -> Entity:
        return Entity(kind, kind, ((draw(numbers), "NUM", "nummod"), (draw(nouns), "NOUN", "")), 1)

    return make


_MAKERS = {
    "person": _person,
    "town": _town,
    "work": _work,
    "event": _event,
    "river": _river,
    "prize": _prize,
    "institution": _described("institution", words.INSTITUTION_WORDS, "amod", words.INSTITUTIONS),
    "thing": _described("thing", words.MATERIALS, "compound", words.THINGS),
    "building": _described("building", words.STONES, "compound", words.BUILDINGS),
    "scene": _described("scene", words.SCENE_WORDS, "amod", words.SCENES),
    "profession": _profession,
    "field": _bare("field", words.FIELDS, "NOUN"),
    "product": _bare("product", words.PRODUCTS, "NOUN"),
    "month": _bare("month", words.MONTHS, "PROPN"),
    "duration": _amount("duration", words.SMALL_NUMBERS, ("days", "weeks")),
    "crowd": _amount("crowd", words.LARGE_NUMBERS, ("visitors", "guests")),
    "price": _amount("price", words.LARGE_NUMBERS, ("crowns", "marks")),
}


def year(number: int) -> Entity:
    """A year as an entity."""
    return Entity("year", "year", ((str(number), "NUM", ""),), 0)


class Names:
    """Draws entities of one split. The splits share no proper name.

    Common nouns, months, numbers and years are values rather than entities, and both splits use them all.
    """

    def __init__(self, seed: int, split: str, rng: np.random.Generator):
        """seed: of the world, decides which names belong to which split; rng: decides what is drawn."""
        self._rng = rng
        self._shares = {}
        for number, (kind, names) in enumerate(words.PROPER_NAMES.items()):
            order = np.random.default_rng([seed, number]).permutation(len(names))
            cut = round(_TRAIN_SHARE * len(names))
            chosen = order[:cut] if split == "train" else order[cut:]
            self._shares[kind] = [names[i] for i in chosen]

    def _choice(self, options):
        return options[int(self._rng.integers(len(options)))]

    def draw(self, kind: str, taken: set[str], sort: str | None = None) -> Entity:
        """Draw an entity of the kind (and sort) none of whose names is in `taken`, and add its names to it.

        Raises `InputError` if the names of that kind are used up.
        """
        for _ in range(10_000):
            entity = _MAKERS[kind](self._choice, self._shares.__getitem__)
            if sort is not None and entity.sort != sort:
                continue
            names = {entity.name, entity.words[-1][0]} if kind in ("person", "town") else {entity.name}
            if taken.isdisjoint(names):
                taken |= names
                return entity
        raise InputError(f"The generated world has no name left for another {sort or kind} in one article.")
