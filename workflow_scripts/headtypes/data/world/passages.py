"""Articles of the generated world: a topic, and passages about it and its like."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headtypes.core.errors import InputError
from headtypes.data.world.entities import TOPICS, Entity, Names, split_number, year
from headtypes.data.world.grammar import Mention, Sentence
from headtypes.data.world.relations import Fact, Relation, rank, relations_about
from headtypes.data.world.telling import Narrator, choice, filler

# Shares of the passages: `plain` ones have two subjects of one kind in different relations; `shared` ones two that have
# a relation in common, so that the verb alone does not lead to the answer; `long` ones three, two of which have a
# relation in common.
TIERS = {"plain": 0.4, "shared": 0.35, "long": 0.25}
_TOPIC_SHARES = (0.5, 0.16, 0.18, 0.16)
_TRIES = 1000
# Keeps the world's random numbers apart from those of the tasks.
_WORLD = 1000
_PARAGRAPHS = {"person": 4, "town": 2, "work": 2, "event": 2}


@dataclass(frozen=True)
class Passage:
    """Sentences about `subjects`.

    facts: every fact, with the role that its topic plays and the index of the sentence that tells it.
    """

    tier: str
    subjects: tuple[Entity, ...]
    sentences: tuple[Sentence, ...]
    facts: tuple[tuple[Fact, str, int], ...]

    @property
    def text(self) -> str:
        """The sentences joined by spaces."""
        return " ".join(sentence.text for sentence in self.sentences)

    def span(self, index: int, mention: Mention) -> tuple[int, int]:
        """Character offsets in `text` of a mention in sentence `index`."""
        offset = sum(len(sentence.text) + 1 for sentence in self.sentences[:index])
        spans = self.sentences[index].spans()
        return offset + spans[mention.start][0], offset + spans[mention.end - 1][1]


@dataclass(frozen=True)
class Article:
    """A topic with its passages. number: its index in the split."""

    number: int
    topic: Entity
    passages: tuple[Passage, ...]


class _Teller:
    """Makes the facts and passages of one article. Names are distinct within an article."""

    def __init__(self, rng: np.random.Generator, names: Names, topic: Entity, taken: set[str]):
        self._rng, self._names, self._topic, self._taken = rng, names, topic, taken
        self._start = int(rng.integers(1700, 1920))
        self._years: dict[str, int] = {}
        self._open = self._shuffled(topic)
        self._end = [entry for entry in self._open if rank(*entry) == 2]
        self._open = [entry for entry in self._open if rank(*entry) < 2]

    def _shuffled(self, topic: Entity) -> list[tuple[Relation, str]]:
        about = relations_about(topic)
        return [about[i] for i in self._rng.permutation(len(about))]

    def _year(self, topic: Entity) -> Entity:
        number = self._years.get(topic.key, self._start + int(self._rng.integers(30)))
        while True:
            number += int(self._rng.integers(1, 9))
            if str(number) not in self._taken:
                break
        self._taken.add(str(number))
        self._years[topic.key] = number
        return year(number)

    def _draw(self, slot: str) -> Entity:
        kind, _, sort = slot.partition(":")
        return self._names.draw(kind, self._taken, sort or None)

    def fact(self, relation: Relation, topic: Entity, role: str) -> Fact:
        """Make a fact in which the topic plays the role; sometimes one of several circumstances is left out."""
        fillers = [("subject", topic if role == "subject" else self._draw(relation.subject))]
        if relation.object is not None:
            fillers.append(("object", topic if role == "object" else self._draw(relation.object)))
        adjuncts = list(relation.adjuncts)
        if len(adjuncts) + len(fillers) > 2 and adjuncts and self._rng.random() < 0.25:
            adjuncts.pop(int(self._rng.integers(len(adjuncts))))
        for adjunct in adjuncts:
            filled = self._year(topic) if adjunct.kind == "year" else self._draw(adjunct.kind)
            fillers.append((adjunct.role, filled))
        return Fact(relation, tuple(fillers))

    def _take(self, relations: list[tuple[Relation, str]], count: int, avoid: set[str]) -> list[tuple[Relation, str]]:
        taken = [entry for entry in relations if entry[0].name not in avoid][:count]
        for entry in taken:
            relations.remove(entry)
        return taken

    def passage(self, tier: str, last: bool) -> Passage | None:
        """Make the article's next passage; None if too little is left to say about the topic."""
        rng = self._rng
        counts = [3, 3, 3] if tier == "long" else [int(rng.integers(2, 4)) for _ in range(2)]
        own = self._take(self._open, counts[0], set())
        self._open = [entry for entry in self._open if rank(*entry) > 0]
        if len(own) < counts[0]:
            return None
        if last and self._end and rng.random() < 0.5:
            own[-1] = self._end[0]
        relations_of = {self._topic: own}
        used = {relation.name for relation, _ in own}
        for index, count in enumerate(counts[1:]):
            other = self._names.draw(
                self._topic.kind, self._taken, self._topic.sort if self._topic.kind == "work" else None
            )
            relations = self._shuffled(other)
            relations_of[other] = [choice(rng, own)] if tier != "plain" and index == 0 else []
            relations_of[other] += self._take(relations, count - len(relations_of[other]), used)
            used |= {relation.name for relation, _ in relations_of[other]}
        subjects = list(relations_of)
        subjects = [subjects[i] for i in rng.permutation(len(subjects))]
        plans = {}
        for subject in subjects:
            ranked = sorted(relations_of[subject], key=lambda entry: rank(*entry))
            plans[subject] = [(self.fact(relation, subject, role), role) for relation, role in ranked]
        return _narrate(rng, tier, subjects, plans)


def _narrate(rng: np.random.Generator, tier: str, subjects: list[Entity], plans: dict) -> Passage:
    """Put the facts into sentences: one subject after the other, or sometimes alternating."""
    queue = {subject: list(plan) for subject, plan in plans.items()}
    turns = []
    by_turns = len(subjects) == 2 and rng.random() < 0.35
    while any(queue.values()):
        for subject in subjects:
            left = len(queue[subject])
            while queue[subject] and (not by_turns or left - len(queue[subject]) < 1):
                pair = len(queue[subject]) > 1 and rng.random() < 0.15
                turns.append((subject, [queue[subject].pop(0) for _ in range(1 + pair)]))
    narrator = Narrator(rng)
    sentences, placed = [], []
    for subject, facts in turns:
        placed += [(fact, role, len(sentences)) for fact, role in facts]
        sentences.append(narrator.tell(subject, facts))
    if rng.random() < 0.15:
        extra = filler(rng)
        at = choice(rng, (0, len(sentences)))
        sentences.insert(at, extra)
        placed = [(fact, role, index + (index >= at)) for fact, role, index in placed]
    return Passage(tier, tuple(subjects), tuple(sentences), tuple(placed))


def articles(seed: int, split: str) -> Iterator[Article]:
    """Yield the articles of a split without end, the same for every task. No two have the same topic.

    Raises `InputError` for a split that does not exist, and when its names are used up.
    """
    rng = np.random.default_rng([seed, _WORLD, split_number(split)])
    names = Names(seed, split, rng)
    topics: set[str] = set()
    while True:
        topic, taken = _new_topic(rng, names, topics)
        teller = _Teller(rng, names, topic, taken)
        count = _PARAGRAPHS[topic.kind]
        tiers = rng.choice(list(TIERS), p=list(TIERS.values()), size=count)
        passages = [teller.passage(str(tier), last=at == count - 1) for at, tier in enumerate(tiers)]
        yield Article(len(topics) - 1, topic, tuple(passage for passage in passages if passage is not None))


def _new_topic(rng: np.random.Generator, names: Names, topics: set[str]) -> tuple[Entity, set[str]]:
    """Draw a topic that is not in `topics` and add it there; returned with the names that it uses."""
    kind = TOPICS[int(rng.choice(len(TOPICS), p=_TOPIC_SHARES))]
    for _ in range(_TRIES):
        taken: set[str] = set()
        topic = names.draw(kind, taken)
        if topic.key not in topics:
            topics.add(topic.key)
            return topic, taken
    raise InputError(
        f"The generated world has no {kind} left for another article after {len(topics)} of them; "
        "ask for a smaller size."
    )
