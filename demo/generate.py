"""Write the demo's data: fictional people, places, works and events, told in plain English, and what is asked of them.

python demo/generate.py [FOLDER]

A sentence keeps the facts that it tells, its tree and its mentions, from which follow the answers of questions, the
labels of pairs, a treebank and documents with coreference. Equal versions of this file write equal bytes.
"""

import csv
import json
import sys
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

import words
from words import RELATIONS, TOPICS, Relation, Verb

SEED = 405788026
# More than any task needs.
ARTICLES = 500
# Shares of the passages: `plain` ones have two subjects in different relations; `shared` ones two that have a relation
# in common, so that the verb alone does not lead to the answer; `long` ones three, two of which have one in common.
TIERS = {"plain": 0.4, "shared": 0.35, "long": 0.25}
ADVERBS = ("later", "finally", "quietly", "suddenly", "soon", "gladly")
COMPANIONS = ("friend", "neighbour", "cousin", "partner")
SOURCES = (("records", "show"), ("letters", "say"), ("guides", "claim"), ("newspapers", "report"))
FILLERS = (("winter", "long"), ("harvest", "poor"), ("roads", "bad"), ("summer", "dry"), ("people", "poor"),
           ("houses", "small"), ("streets", "narrow"), ("food", "cheap"))  # fmt: skip
APPOSITIONS = {
    "town": ("market", "mining", "harbour", "border"),
    "work": ("short", "famous", "popular", "modern"),
    "event": ("local", "noisy", "popular", "cheerful"),
}
QUESTIONED = {
    "town": "which town", "event": "which event", "river": "which river", "prize": "which prize",
    "month": "which month", "field": "which subject",
}  # fmt: skip
ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2


def choice(rng: np.random.Generator, options):
    return options[int(rng.integers(len(options)))]


def shuffled(rng: np.random.Generator, options) -> list:
    return [options[i] for i in rng.permutation(len(options))]


# Sentences as trees of words, which become text only at the end.


@dataclass(frozen=True)
class Phrase:
    """A word with its dependents, as a tree.

    The order in the sentence is outer_left, before, the word itself, after, outer_right.

    form, upos: the word as it is written, and its part of speech (UPOS).
    relation: dependency relation to the head.
    entity:   key of the entity that the phrase mentions; the mention covers `before`, the word and `after`.
    named:    whether the phrase is the full name of the entity.
    """

    form: str
    upos: str
    relation: str = "root"
    before: tuple["Phrase", ...] = ()
    after: tuple["Phrase", ...] = ()
    outer_left: tuple["Phrase", ...] = ()
    outer_right: tuple["Phrase", ...] = ()
    entity: str | None = None
    named: bool = False

    def as_relation(self, relation: str, *outer_left: "Phrase") -> "Phrase":
        """Return the same phrase in another relation to its head, with more words, such as a preposition, in front."""
        return replace(self, relation=relation, outer_left=(*outer_left, *self.outer_left))


@dataclass(frozen=True)
class Sentence:
    """A sentence with its tree and its mentions of entities.

    words:    [form, part of speech, index of the head or -1, relation] of each word.
    mentions: (first word, last word, key of the entity, whether the mention is the full name).
    """

    words: list[list]
    mentions: list[tuple[int, int, str, bool]]

    @property
    def text(self) -> str:
        """The sentence as text."""
        return join([form for form, *_ in self.words])


def join(forms: list[str]) -> str:
    """Return words as text, without a space before punctuation and `'s`."""
    return "".join(form if form in (",", ".", "?", "'s") or not i else f" {form}" for i, form in enumerate(forms))


def capital(form: str) -> str:
    return form[:1].upper() + form[1:]


def sentence(root: Phrase) -> Sentence:
    """Return a tree of words as a sentence that starts with a capital and ends with a full stop."""
    words, mentions = [], []

    def place(phrase: Phrase) -> int:
        dependents = [place(child) for child in phrase.outer_left]
        start = len(words)
        dependents += [place(child) for child in phrase.before]
        index = len(words)
        words.append([phrase.form, phrase.upos, -1, phrase.relation])
        dependents += [place(child) for child in phrase.after]
        end = len(words) - 1
        dependents += [place(child) for child in phrase.outer_right]
        for dependent in dependents:
            words[dependent][2] = index
        if phrase.entity is not None:
            mentions.append((start, end, phrase.entity, phrase.named))
        return index

    place(replace(root, outer_right=(*root.outer_right, Phrase(".", "PUNCT", "punct"))))
    words[0][0] = capital(words[0][0])
    return Sentence(words, sorted(mentions, key=lambda mention: (mention[0], -mention[1])))


# Entities and facts.


@dataclass(frozen=True)
class Entity:
    """A fictional or ordinary thing that facts are about, such as a person, a town or a year.

    kind:  kind of thing that questions ask for, such as work.
    sort:  finer word for the kind, such as novel.
    words: (form, part of speech, relation) of each word of the full name.
    head:  index of the head word of the name.
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
        """A text that identifies the entity within an article, as `kind:name`."""
        return f"{self.kind}:{self.name}"

    def phrase(self) -> Phrase:
        """Return the full name of the entity as a phrase."""
        parts = [Phrase(*word) for word in self.words]
        before, after = tuple(parts[: self.head]), tuple(parts[self.head + 1 :])
        return Phrase(*self.words[self.head][:2], before=before, after=after, entity=self.key, named=True)

    def pronoun(self, possessive: bool = False) -> str:
        """Return the personal or possessive pronoun for the entity."""
        return {"woman": ("she", "her"), "man": ("he", "his")}.get(self.sort, ("it", "its"))[possessive]

    def short_phrase(self) -> Phrase:
        """Return the surname of a person, or `the` and the sort of anything else, as a phrase."""
        if self.kind == "person":
            return Phrase(self.words[-1][0], "PROPN", entity=self.key)
        return Phrase(self.sort, "NOUN", before=(Phrase("the", "DET", "det"),), entity=self.key)


@dataclass(frozen=True)
class Fact:
    """A relation between entities: the statement that a sentence tells.

    fillers: (role, entity): the subject first, then the object, then adjuncts (place, time and other circumstances).
    """

    relation: Relation
    fillers: tuple[tuple[str, Entity], ...]

    def get(self, role: str) -> Entity | None:
        """Return the entity in a role; None if the fact leaves the role open."""
        return dict(self.fillers).get(role)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that an entity fills."""
        return tuple(role for role, _ in self.fillers)

    @property
    def adjuncts(self) -> tuple[str, ...]:
        """The roles that are circumstances, such as place and year, and neither subject nor object."""
        return tuple(role for role in self.roles if role not in ("subject", "object"))

    def with_filler(self, role: str, entity: Entity) -> "Fact":
        """Return the same fact with another entity in one role."""
        return Fact(self.relation, tuple((r, entity if r == role else e) for r, e in self.fillers))

    def without(self, role: str) -> "Fact":
        """Return the same fact with one role left open."""
        return Fact(self.relation, tuple((r, e) for r, e in self.fillers if r != role))


# Facts about a topic, each with the role that the topic plays.
TopicFacts = list[tuple[Fact, str]]


def fits(slot: str | None, entity: Entity) -> bool:
    """Return whether an entity may fill a slot, which is written `kind` or `kind:sort`."""
    return slot in (entity.kind, f"{entity.kind}:{entity.sort}")


def alike(entity: Entity, other: Entity) -> bool:
    """Return whether two entities are of one kind and, if they are works, of one sort."""
    return entity.kind == other.kind and (entity.kind != "work" or entity.sort == other.sort)


def rank(relation: Relation, role: str) -> int:
    """Return when a text about a topic tells the relation: 0 first, 1 in the middle, 2 at the end.

    role: role of the topic in the relation. A text about a work begins with the author.
    """
    return 0 if role == "object" and "subject" in relation.determined else relation.rank


def relations_about(topic: Entity) -> list[tuple[Relation, str]]:
    """Return (relation, role of the topic) for each relation that a sentence about the topic can tell."""
    about = [(relation, "subject") for relation in RELATIONS if relation.subject == topic.kind]
    return about + [(it, "object") for it in RELATIONS if it.converse and fits(it.object, topic)]


def article_for(form: str) -> str:
    """Return the indefinite article, a or an, for the word after it."""
    return "an" if form[0] in "aeiou" else "a"


def year(number: int) -> Entity:
    return Entity("year", "year", ((str(number), "NUM", ""),), 0)


class Names:
    """A source of random entities for one part of the data, dev or train; the two parts share no proper name."""

    def __init__(self, part: str, rng: np.random.Generator):
        """Divide the proper names; `part`, dev or train, decides which of them can be drawn, and `rng` which are."""
        self._rng, self._of_part = rng, {}
        for number, (kind, names) in enumerate(words.PROPER_NAMES.items()):
            order, cut = np.random.default_rng([SEED, number]).permutation(len(names)), round(0.65 * len(names))
            self._of_part[kind] = [names[i] for i in (order[:cut] if part == "train" else order[cut:])]

    def draw(self, kind: str, taken: set[str], sort: str | None = None) -> Entity:
        """Return a random entity of a kind and, if given, a sort, and add its names to `taken`.

        taken: names that the entity may not have.
        """
        while True:
            entity = self._made(kind)
            names = {entity.name, entity.words[-1][0]} if kind in ("person", "town") else {entity.name}
            if sort in (None, entity.sort) and taken.isdisjoint(names):
                taken |= names
                return entity

    def _made(self, kind: str) -> Entity:
        def draw(options):
            return choice(self._rng, options)

        def named(sort: str, *name: tuple[str, str, str]) -> Entity:
            return Entity(kind, sort, name, next(i for i, (*_, relation) in enumerate(name) if not relation))

        def described(modifiers: tuple[str, ...], upos: str, relation: str, nouns: tuple[str, ...]) -> Entity:
            modifier, noun = draw(modifiers), draw(nouns)
            return named(kind, (article_for(modifier), "DET", "det"), (modifier, upos, relation), (noun, "NOUN", ""))

        def amount(numbers: tuple[str, ...], nouns: tuple[str, ...]) -> Entity:
            return named(kind, (draw(numbers), "NUM", "nummod"), (draw(nouns), "NOUN", ""))

        the, own = ("the", "DET", "det"), self._of_part.get(kind)
        match kind:
            case "person":
                sort = draw(("woman", "man"))
                given = draw(words.WOMEN if sort == "woman" else words.MEN)
                return named(sort, (given, "PROPN", ""), (draw(own), "PROPN", "flat"))
            case "town":
                name = (draw(own), "PROPN", "")
                return named(kind, *([] if draw(range(4)) else [(draw(words.TOWN_SIDES), "PROPN", "compound")]), name)
            case "work":
                adjective, noun = draw(own)
                title = (("The", "DET", "det"), (adjective, "ADJ", "amod"), (noun, "PROPN", ""))
                return named(draw(words.WORK_SORTS), *title)
            case "event" | "prize":
                noun, head = draw(own)
                sort = head.lower() if kind == "event" else kind
                return named(sort, the, (noun, "PROPN", "compound"), (head, "PROPN", ""))
            case "river":
                return named(kind, the, ("River", "PROPN", ""), (draw(own), "PROPN", "flat"))
            case "institution":
                return described(words.INSTITUTION_WORDS, "ADJ", "amod", words.INSTITUTIONS)
            case "thing":
                return described(words.MATERIALS, "NOUN", "compound", words.THINGS)
            case "building":
                return described(words.STONES, "NOUN", "compound", words.BUILDINGS)
            case "scene":
                return described(words.SCENE_WORDS, "ADJ", "amod", words.SCENES)
            case "profession":
                noun = draw(words.PROFESSIONS)
                return named(kind, (article_for(noun), "DET", "det"), (noun, "NOUN", ""))
            case "duration":
                return amount(words.SMALL_NUMBERS, ("days", "weeks"))
            case "crowd":
                return amount(words.LARGE_NUMBERS, ("visitors", "guests"))
            case "price":
                return amount(words.LARGE_NUMBERS, ("crowns", "marks"))
        nouns = {"field": words.FIELDS, "product": words.PRODUCTS, "month": words.MONTHS}[kind]
        return named(kind, (draw(nouns), "PROPN" if kind == "month" else "NOUN", ""))


# From facts to sentences: voice, order, verbs, and references to what was named before.


@dataclass(frozen=True)
class Style:
    """A way to tell a fact in a clause.

    verb:     one of the relation's verbs.
    adjuncts: roles of the circumstances, in the order of the words.
    front:    whether the first circumstance stands at the front of the clause.
    adverb:   adverb before the verb; None for no adverb.
    negated:  whether the clause denies the fact.
    """

    verb: Verb
    adjuncts: tuple[str, ...]
    front: bool
    adverb: str | None
    negated: bool = False


def draw_style(rng: np.random.Generator, fact: Fact, avoid: Style | None = None) -> Style:
    """Return a random way to tell a fact.

    avoid: way of another sentence; the verb and the order are others, if the relation has any.
    """
    relation, adjuncts = fact.relation, fact.adjuncts
    verbs = [verb for verb in relation.verbs if avoid is None or verb != avoid.verb] or relation.verbs
    front = bool(adjuncts) and rng.random() < 0.25
    if avoid is not None and adjuncts:
        front = not avoid.front
    if len(adjuncts) > 1 and (front or rng.random() < 0.2):
        adjuncts = adjuncts[::-1]
    eventful = relation.subject == "person" and relation.rank == 1 and not relation.passive
    adverb = choice(rng, ADVERBS) if eventful and rng.random() < 0.12 else None
    return Style(choice(rng, verbs), adjuncts, front, adverb)


def preposition_phrase(preposition: str, phrase: Phrase, relation: str = "obl") -> Phrase:
    return phrase.as_relation(relation, Phrase(preposition, "ADP", "case"))


def clause(fact: Fact, role: str, topic: Phrase | None, style: Style, relation: str = "root") -> Phrase:
    """Return the clause that tells a fact with the entity in `role` as the grammatical subject.

    topic:    phrase that refers to the subject; None to leave it out, in a second verb after `and`.
    relation: dependency relation of the clause to its head.
    """
    verb, converse = style.verb, role == "object"
    passive = fact.relation.passive or converse
    before = [] if topic is None else [topic.as_relation("nsubj:pass" if passive else "nsubj")]
    if passive:
        before.append(Phrase("is" if verb.present else "was", "AUX", "aux:pass"))
    elif style.negated:
        before.append(Phrase("does" if verb.present else "did", "AUX", "aux"))
    if style.negated:
        before.append(Phrase("not", "PART", "advmod"))
    if style.adverb:
        before.append(Phrase(style.adverb, "ADV", "advmod"))
    after = [Phrase(verb.particle, "ADP", "compound:prt")] if verb.particle else []
    complement = fact.get("subject" if converse else "object")
    if complement is not None and converse:
        after.append(preposition_phrase("by", complement.phrase(), "obl:agent"))
    elif complement is not None and verb.preposition:
        after.append(preposition_phrase(verb.preposition, complement.phrase()))
    elif complement is not None:
        after.append(complement.phrase().as_relation("obj"))
    if verb.tail:
        after.append(preposition_phrase(verb.tail[0], Phrase(verb.tail[1], "NOUN")))
    prepositions = {adjunct.role: adjunct.preposition for adjunct in fact.relation.adjuncts}
    adjuncts = [preposition_phrase(prepositions[name], fact.get(name).phrase()) for name in style.adjuncts]
    if style.front and adjuncts and topic is not None:
        before = [adjuncts.pop(0), Phrase(",", "PUNCT", "punct"), *before]
    form = verb.participle if passive else verb.base if style.negated else verb.finite
    return Phrase(form, "VERB", relation, before=tuple(before), after=(*after, *adjuncts))


def joined(facts: TopicFacts, topic: Phrase, styles: list[Style]) -> Phrase:
    """Return one clause, or two clauses about the same topic joined by `and`.

    facts:  (fact, role of the topic) of each clause.
    topic:  phrase that refers to the topic.
    styles: way to tell each fact.
    """
    if len(facts) > 1:
        # `In 1920, she moved and married` would leave open what happened in 1920.
        styles = [replace(style, front=False) for style in styles]
    root = clause(*facts[0], topic, styles[0])
    for (fact, role), style in zip(facts[1:], styles[1:], strict=True):
        conjunct = clause(fact, role, None, style, "conj")
        conjunct = replace(conjunct, before=(Phrase("and", "CCONJ", "cc"), *conjunct.before))
        root = replace(root, after=(*root.after, conjunct))
    return root


def reported(rng: np.random.Generator, root: Phrase) -> Phrase:
    """Return a clause as the statement of a source, such as `old records show that ...`."""
    noun, verb = choice(rng, SOURCES)
    subject = Phrase(noun, "NOUN", "nsubj", before=(Phrase("old", "ADJ", "amod"),))
    said = replace(root, relation="ccomp", before=(Phrase("that", "SCONJ", "mark"), *root.before))
    return Phrase(verb, "VERB", before=(subject,), after=(said,))


def filler(rng: np.random.Generator) -> Sentence:
    noun, adjective = choice(rng, FILLERS)
    be = Phrase("were" if noun.endswith("s") or noun == "people" else "was", "AUX", "cop")
    subject = Phrase(noun, "NOUN", "nsubj", before=(Phrase("the", "DET", "det"),))
    time = Phrase("year", "NOUN", "obl", before=(Phrase("that", "DET", "det"),))
    return sentence(Phrase(adjective, "ADJ", before=(subject, be), after=(time,)))


def with_apposition(rng: np.random.Generator, entity: Entity) -> Phrase:
    """Return the full name of an entity, followed by an apposition such as `a market town`."""
    word = choice(rng, APPOSITIONS[entity.kind])
    modifier = Phrase(word, "NOUN", "compound") if entity.kind == "town" else Phrase(word, "ADJ", "amod")
    before = (Phrase(article_for(word), "DET", "det"), modifier)
    comma = Phrase(",", "PUNCT", "punct")
    return replace(entity.phrase(), outer_right=(comma, Phrase(entity.sort, "NOUN", "appos", before=before), comma))


class Narrator:
    """A teller of facts in order, who remembers named entities, so that pronouns and short names can follow."""

    def __init__(self, rng: np.random.Generator):
        """Begin a text in which nobody has been named; `rng` decides how entities are referred to."""
        self._rng, self._named, self._previous = rng, set(), None

    def refer(self, topic: Entity, plain: bool) -> Phrase:
        """Return a phrase that refers to the subject of the next sentence.

        The phrase is a pronoun only if the sentence before has the same subject.

        plain: whether the full name stands without an apposition.
        """
        rng, follows = self._rng, self._previous == topic
        previous, self._previous = self._previous, topic
        if topic.key not in self._named:
            self._named.add(topic.key)
            if topic.kind == "person" and previous is not None and previous.kind == "person" and rng.random() < 0.2:
                owner = Phrase(previous.pronoun(possessive=True), "PRON", "nmod:poss", entity=previous.key)
                name = topic.phrase().as_relation("appos")
                return Phrase(choice(rng, COMPANIONS), "NOUN", before=(owner,), after=(name,))
            if topic.kind != "person" and not plain and rng.random() < 0.2:
                return with_apposition(rng, topic)
            return topic.phrase()
        draw = rng.random()
        if follows and draw < 0.65:
            return Phrase(topic.pronoun(), "PRON", entity=topic.key)
        return topic.short_phrase() if (topic.kind == "person" or follows) and draw < 0.85 else topic.phrase()

    def tell(self, topic: Entity, facts: TopicFacts) -> Sentence:
        """Return a sentence that tells one fact about a topic, or two facts joined by `and`.

        facts: (fact, role of the topic) of each fact.
        """
        rng = self._rng
        styles = [draw_style(rng, fact) for fact, _ in facts]
        root = joined(facts, self.refer(topic, plain=len(facts) > 1), styles)
        if not styles[0].front and len(facts) == 1 and rng.random() < 0.08:
            root = reported(rng, root)
        return sentence(root)


# Articles: passages about a topic and its like.


@dataclass(frozen=True)
class Passage:
    """A text of several sentences about a few entities.

    subjects: entities that the sentences are about.
    facts:    (fact, role of its topic, index of the sentence that tells it).
    """

    subjects: list[Entity]
    sentences: list[Sentence]
    facts: list[tuple[Fact, str, int]]

    @property
    def text(self) -> str:
        """The sentences of the passage, joined by spaces."""
        return " ".join(sentence.text for sentence in self.sentences)

    def start(self, index: int, word: int) -> int:
        """Return the character of `text` at which a word starts.

        index: index of the sentence; word: index of the word in the sentence.
        """
        forms = [form for form, *_ in self.sentences[index].words[: word + 1]]
        return sum(len(it.text) + 1 for it in self.sentences[:index]) + len(join(forms)) - len(forms[-1])


@dataclass(frozen=True)
class Article:
    """A topic with the passages about it.

    number: index of the article in its part of the data, dev or train.
    """

    number: int
    topic: Entity
    passages: list[Passage]


class Teller:
    """A maker of the facts and passages of one article, within which all names are distinct."""

    def __init__(self, rng: np.random.Generator, names: Names, topic: Entity, taken: set[str]):
        """Choose the relations that the article tells about its topic; `taken` are the names that the topic uses."""
        self._rng, self._names, self._topic, self._taken = rng, names, topic, taken
        self._start, self._years = int(rng.integers(1700, 1920)), {}
        about = shuffled(rng, relations_about(topic))
        self._open = [entry for entry in about if rank(*entry) < 2]
        self._end = [entry for entry in about if rank(*entry) == 2]

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

    def _fact(self, relation: Relation, topic: Entity, role: str) -> Fact:
        """Return a fact in which the topic plays the role and random entities play all other roles.

        Sometimes one of several circumstances is left out.
        """
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

    def passage(self, tier: str, last: bool) -> Passage | None:
        """Return the next passage of the article; None if too little is left to say about the topic.

        tier: difficulty of the passage's questions, a key of `TIERS`.
        last: whether the passage is the article's last, which may tell the topic's end.
        """
        rng, topic = self._rng, self._topic
        count, *counts = [3, 3, 3] if tier == "long" else [int(rng.integers(2, 4)) for _ in range(2)]
        own = self._open[:count]
        self._open = [entry for entry in self._open[count:] if rank(*entry) > 0]
        if len(own) < count:
            return None
        if last and self._end and rng.random() < 0.5:
            own[-1] = self._end[0]
        relations_of = {topic: own}
        used = {relation.name for relation, _ in own}
        for index, count in enumerate(counts):
            other = self._names.draw(topic.kind, self._taken, topic.sort if topic.kind == "work" else None)
            about = shuffled(rng, relations_about(other))
            shared = [choice(rng, own)] if tier != "plain" and index == 0 else []
            relations_of[other] = shared + [it for it in about if it[0].name not in used][: count - len(shared)]
            used |= {relation.name for relation, _ in relations_of[other]}
        plans = {}
        for subject in (subjects := shuffled(rng, list(relations_of))):
            ranked = sorted(relations_of[subject], key=lambda entry: rank(*entry))
            plans[subject] = [(self._fact(relation, subject, role), role) for relation, role in ranked]
        return narrate(rng, subjects, plans)


def narrate(rng: np.random.Generator, subjects: list[Entity], plans: dict[Entity, TopicFacts]) -> Passage:
    """Return a passage that tells facts: one subject after the other, or sometimes the subjects in turn.

    plans: {subject: (fact, role of the subject) of each fact, in order}; the lists are emptied.
    """
    turns, narrator, sentences, placed = [], Narrator(rng), [], []
    by_turns = len(subjects) == 2 and rng.random() < 0.35
    while any(plans.values()):
        for subject in subjects:
            queue = plans[subject]
            left = len(queue)
            while queue and (not by_turns or left == len(queue)):
                pair = len(queue) > 1 and rng.random() < 0.15
                turns.append((subject, [queue.pop(0) for _ in range(1 + pair)]))
    for subject, facts in turns:
        placed += [(fact, role, len(sentences)) for fact, role in facts]
        sentences.append(narrator.tell(subject, facts))
    if rng.random() < 0.15:
        extra = filler(rng)
        at = choice(rng, (0, len(sentences)))
        sentences.insert(at, extra)
        placed = [(fact, role, index + (index >= at)) for fact, role, index in placed]
    return Passage(subjects, sentences, placed)


@cache
def articles(part: str) -> list[Article]:
    """Return the articles of a part, dev or train, which are the same for every task. No two have the same topic."""
    rng = np.random.default_rng([SEED, 1000, ["train", "dev"].index(part)])
    names, topics, made = Names(part, rng), set(), []
    while len(made) < ARTICLES:
        kind = TOPICS[int(rng.choice(len(TOPICS), p=(0.5, 0.16, 0.18, 0.16)))]
        while (topic := names.draw(kind, taken := set())).key in topics:
            pass
        topics.add(topic.key)
        teller, count = Teller(rng, names, topic, taken), 4 if kind == "person" else 2
        tiers = rng.choice(list(TIERS), p=list(TIERS.values()), size=count)
        passages = [teller.passage(str(tier), last=at == count - 1) for at, tier in enumerate(tiers)]
        made.append(Article(len(made), topic, [passage for passage in passages if passage is not None]))
    return made


def told(part: str, size: int) -> list[Article]:
    """Return the first `size` articles of a part, dev or train, that have passages."""
    return [article for article in articles(part) if article.passages][:size]


def generator(part: str, task: str) -> np.random.Generator:
    tasks = ["question_answering", "paraphrase", "entailment"]
    return np.random.default_rng([SEED, ["train", "dev"].index(part), tasks.index(task)])


# Questions about facts, and where their answers stand.


def interrogative(rng: np.random.Generator, asked: Entity, preposition: str | None) -> tuple[str, str | None]:
    """Return (question word for an entity, preposition that ends the question or None).

    asked:       entity that answers the question.
    preposition: preposition before the entity in a statement; None for no preposition.
    """
    named = QUESTIONED.get(asked.kind, "what")
    match asked.kind:
        case "person":
            return "who", preposition
        case "year":
            return choice(rng, ("when", "in which year", "in what year")), None
        case "town" if preposition in ("in", "to") and rng.random() < 0.6:
            return "where", None
        case "month" | "town" if preposition is not None:
            return f"{preposition} {named}", None
        case "duration":
            return "how long", None
        case "crowd":
            return f"how many {asked.words[-1][0]}", None
        case "price":
            return "how much", None
        case "work":
            return f"which {asked.sort}", preposition
    return named, preposition


def question(rng: np.random.Generator, fact: Fact, role: str, verb: Verb) -> str:
    """Return a question for the entity in a role of a fact.

    All other entities are given in the question, but some circumstances that the answer does not need are left out.

    verb: verb of the relation by which the question is told.
    """
    relation, asked = fact.relation, fact.get(role)
    prepositions = {adjunct.role: adjunct.preposition for adjunct in relation.adjuncts}
    subject, complement = fact.get("subject"), fact.get("object")
    given = []
    for name in prepositions:
        if name != role and fact.get(name) is not None and (role == "subject" or rng.random() < 0.3):
            given += [prepositions[name], fact.get(name).name]
    tail, particle = [*(verb.tail or ())], [verb.particle] if verb.particle else []
    thing = [form for form in (verb.preposition, complement.name) if form] if complement else []
    converse = relation.converse and verb.preposition is None and rng.random() < 0.35
    do, be = ("does", "is") if verb.present else ("did", "was")
    if role == "object" and not converse:
        word, rest = interrogative(rng, asked, verb.preposition)
        forms = [word, do, subject.name, verb.base, *particle, *([rest] if rest else []), *tail, *given]
    elif role == "object":
        word, _ = interrogative(rng, asked, None)
        forms = [word, be, verb.participle, "by", subject.name, *given]
    elif role == "subject" and converse:
        first, end = choice(rng, ((["by", "whom"], []), (["who"], ["by"])))
        forms = [*first, be, complement.name, verb.participle, *end, *given]
    elif role == "subject":
        word, _ = interrogative(rng, asked, None)
        said = [be, verb.participle] if relation.passive else [verb.finite]
        forms = [word, *said, *particle, *thing, *tail, *given]
    else:
        word, rest = interrogative(rng, asked, prepositions[role])
        end = [*given, *([rest] if rest else [])]
        if relation.passive:
            forms = [word, be, subject.name, verb.participle, *end]
        elif converse:
            forms = [word, be, complement.name, verb.participle, "by", subject.name, *end]
        else:
            forms = [word, do, subject.name, verb.base, *particle, *thing, *tail, *end]
    return capital(join([*forms, "?"]))


def answer_start(passage: Passage, index: int, asked: Entity) -> tuple[int, int] | None:
    """Return (index of the sentence, character of the passage) at which the full name of an entity starts.

    The name is looked for in sentence `index`, and then backwards in the sentences before. Returns None if no sentence
    has the name.
    """
    for at in range(index, -1, -1):
        for first, _, entity, named in passage.sentences[at].mentions:
            if named and entity == asked.key:
                return at, passage.start(at, first)
    return None


def questions_about(rng: np.random.Generator, passage: Passage) -> list[tuple[str, str, int]]:
    """Return (question, answer, character at which the answer starts) of up to three questions about a passage.

    Things with rivals of their kind in the passage are asked for more often. Each fact and role is asked for once at
    most.
    """
    text, options, weights = passage.text, [], []
    mentioned = {entity for sentence in passage.sentences for _, _, entity, _ in sentence.mentions}
    relations = [fact.relation.name for fact, _, _ in passage.facts]
    for fact, _, index in passage.facts:
        for role, asked in fact.fillers:
            if (place := answer_start(passage, index, asked)) is not None:
                at, start = place
                weight = 1.0 if sum(entity.startswith(f"{asked.kind}:") for entity in mentioned) > 1 else 0.1
                weight *= 0.25 if at != index else 1.0
                weight *= 0.4 if asked.kind == "year" else 1.0
                weight *= 3.0 if relations.count(fact.relation.name) > 1 else 1.0
                options.append((start, fact, role))
                weights.append(weight)
    chosen = rng.choice(len(options), size=min(3, len(options)), replace=False, p=np.array(weights) / sum(weights))
    asked = []
    for start, fact, role in (options[number] for number in chosen):
        # A sentence starts with a capital, and the answer is what stands in the text.
        answer = text[start : start + len(fact.get(role).name)]
        asked.append((question(rng, fact, role, choice(rng, fact.relation.verbs)), answer, start))
    return asked


def squad(part: str, size: int) -> dict:
    """Return `size` questions of a part, dev or train, with their passages, in the format of SQuAD v1.1."""
    rng, data = generator(part, "question_answering"), []
    for article in articles(part):
        paragraphs = []
        for passage in article.passages if size else ():
            asked = questions_about(rng, passage)[:size]
            size -= len(asked)
            answered = [
                {
                    "id": f"{part}-{article.number:05d}-{len(paragraphs)}-{at}",
                    "question": text,
                    "answers": [{"text": answer, "answer_start": start}],
                }
                for at, (text, answer, start) in enumerate(asked)
            ]
            if answered:
                paragraphs.append({"context": passage.text, "qas": answered})
        if paragraphs:
            data.append({"title": capital(article.topic.name).replace(" ", "_"), "paragraphs": paragraphs})
    return {"version": "1.1", "data": data}


# Sentence pairs whose label follows from the facts that they tell.


def tell(facts: TopicFacts, styles: list[Style]) -> str:
    """Return one sentence that tells one or two facts, with their topic by its full name.

    facts:  (fact, role of the topic) of each fact.
    styles: way to tell each fact.
    """
    fact, role = facts[0]
    return sentence(joined(facts, fact.get(role).phrase(), styles)).text


def plain_style(rng: np.random.Generator, fact: Fact, avoid: Style | None = None) -> Style:
    """Return a random way to tell a fact without an adverb, which would make a difference of its own.

    avoid: way of another sentence; the verb and the order are others, if the relation has any.
    """
    return replace(draw_style(rng, fact, avoid), adverb=None)


def another(rng: np.random.Generator, article: Article, entity: Entity) -> Entity | None:
    """Return another entity of the article that could stand in an entity's place; for a year, a nearby year.

    Returns None if the article has no other entity of this kind.
    """
    if entity.kind == "year":
        return year(int(entity.name) + int(choice(rng, (-1, 1))) * int(rng.integers(1, 30)))
    facts = (fact for passage in article.passages for fact, _, _ in passage.facts)
    others = {it.key: it for fact in facts for _, it in fact.fillers if alike(entity, it) and it != entity}
    return choice(rng, list(others.values())) if others else None


def altered(rng: np.random.Generator, article: Article, fact: Fact, roles: list[str]) -> Fact | None:
    """Return the fact with another entity in one of the roles; None if no other entity fits."""
    for role in shuffled(rng, roles):
        other = another(rng, article, fact.get(role))
        if other is not None and other not in dict(fact.fillers).values():
            return fact.with_filler(role, other)
    return None


def changed(rng: np.random.Generator, article: Article, fact: Fact, roles: list[str]) -> Fact | None:
    """Return the fact with another relation that takes the same entities, or with another entity in one of the roles.

    Returns None if no other entity fits.
    """
    kin = [it for it in RELATIONS if it.shape == fact.relation.shape and it != fact.relation]
    if kin and rng.random() < 0.35:
        return Fact(choice(rng, kin), fact.fillers)
    return altered(rng, article, fact, roles)


def paraphrase(rng: np.random.Generator, article: Article, passage: Passage, label: int) -> tuple[str, str] | None:
    """Return a random pair of sentences: with label 1, both tell the same facts; with label 0, they do not.

    Returns None if nothing fits. A sentence tells one fact, or two facts about one subject. Among the pairs that
    differ, one in four tells another fact about the same subject. All other pairs tell the same fact with one or two
    things changed.
    """
    subject = choice(rng, passage.subjects)
    about = shuffled(rng, [(fact, role) for fact, role, _ in passage.facts if fact.get(role) == subject])
    original, others = about[: 1 + int(rng.random() < 0.4)], about[1:][::-1]
    again = list(original)
    if label == 0:
        at, grade = int(rng.integers(len(original))), rng.random()
        fact, role = original[at]
        if grade < 0.25:
            again[at] = others[0]
        else:
            # Two facts share their subject, which then has to stay.
            roles = [r for r in fact.roles if r != role or len(original) == 1]
            new: Fact | None = fact
            for _ in range(2 if grade < 0.55 else 1):
                new = new and changed(rng, article, new, roles)
            if new is None:
                return None
            again[at] = (new, role)
        if {fact for fact, _ in again} == {fact for fact, _ in original} or len(set(again)) < len(again):
            return None
    styles = [plain_style(rng, fact) for fact, _ in original]
    ways = [plain_style(rng, new, avoid=style) for (new, _), style in zip(again, styles, strict=True)]
    if len(again) > 1 and rng.random() < 0.5:
        again, ways = again[::-1], ways[::-1]
    elif len(again) == 1 and again[0][0].relation.converse and rng.random() < 0.5:
        fact, role = again[0]
        again = [(fact, "object" if role == "subject" else "subject")]
    first, second = tell(original, styles), tell(again, ways)
    return (first, second) if first != second else None


def unsaid(rng: np.random.Generator, article: Article, topic: Entity, premise: list[Fact]) -> tuple[Fact, str] | None:
    """Return (fact about the topic, role of the topic) that a premise neither supports nor contradicts.

    The fact is one about another subject of the article, who is replaced by the topic. Returns None if no fact fits.

    premise: facts that the premise tells.
    """
    relations = [fact.relation for fact in premise if topic in dict(fact.fillers).values()]
    fillers = {entity for fact in premise for _, entity in fact.fillers}
    options = [
        (fact.with_filler(role, topic), role)
        for passage in article.passages
        for fact, role, _ in passage.facts
        if alike(topic, fact.get(role))
        and fact.relation not in relations
        and not ("subject" in fact.relation.determined and fillers & {e for r, e in fact.fillers if r != role})
    ]
    options = [(fact, role) for fact, role in options if len(set(dict(fact.fillers).values())) == len(fact.fillers)]
    return choice(rng, options) if options else None


def entailment(rng: np.random.Generator, article: Article, passage: Passage, label: int) -> tuple[str, str] | None:
    """Return a random pair: a premise of one to three sentences, and a hypothesis about one of its subjects.

    Returns None if nothing fits. Entailment repeats a fact, sometimes with less detail. Contradiction denies a fact, or
    changes the entity in a role that can have only one. A neutral hypothesis says something that the premise leaves
    open, or adds a detail.

    label: `ENTAILMENT`, `NEUTRAL` or `CONTRADICTION`.
    """
    topic = choice(rng, passage.subjects)
    own = [(fact, role) for fact, role, _ in passage.facts if fact.get(role) == topic][: int(rng.integers(1, 3))]
    rest = [(fact, role) for fact, role, _ in passage.facts if fact.get(role) != topic]
    at = int(rng.integers(len(own)))
    fact, role = own[at]
    details = fact.adjuncts if len(fact.roles) > 2 else ()
    hypothesis, negated = fact, False
    if label == ENTAILMENT:
        if details and rng.random() < 0.5:
            hypothesis = fact.without(choice(rng, details))
    elif label == CONTRADICTION:
        roles = [r for r in fact.roles if r in fact.relation.determined and r != role]
        other = altered(rng, article, fact, roles) if roles and rng.random() < 0.8 else None
        hypothesis, negated = other or fact, other is None
    elif details and rng.random() < 0.35:
        own[at] = (fact.without(choice(rng, details)), role)
    else:
        new = unsaid(rng, article, topic, [f for f, _ in own + rest])
        if new is None:
            return None
        (hypothesis, role), negated = new, rng.random() < 0.15
    premise = own + (rest[:1] if rng.random() < 0.4 else [])
    narrator = Narrator(rng)
    text = " ".join(narrator.tell(f.get(r), [(f, r)]).text for f, r in premise)
    style = replace(plain_style(rng, hypothesis), front=False, negated=negated)
    return text, tell([(hypothesis, role)], [style])


def pairs(part: str, size: int, task: str) -> list[tuple[str, str, int]]:
    """Return (first text, second text, label) of pairs of a part, dev or train, with each label equally often.

    task: paraphrase, with the labels of MRPC (1 the same, 0 not), or entailment, with those of MNLI.
    size: most pairs.
    """
    draw, n_labels = {"paraphrase": (paraphrase, 2), "entailment": (entailment, 3)}[task]
    rng, drawn = generator(part, task), []
    labels = rng.permutation(np.arange(size) % n_labels).tolist()
    for article, passage in ((it, passage) for it in articles(part) for passage in it.passages for _ in range(2)):
        if len(drawn) < size and (pair := draw(rng, article, passage, labels[len(drawn)])) is not None:
            drawn.append((*pair, labels[len(drawn)]))
    return drawn


# Trees and mentions. Parts of speech and lemmas follow from the words.

VERBS = [verb for relation in RELATIONS for verb in relation.verbs]
PRESENT = {verb.finite for verb in VERBS if verb.present}
LEMMAS = {form: verb.base for verb in VERBS for form in (verb.base, verb.finite, verb.participle)}
LEMMAS |= {"was": "be", "were": "be", "is": "be", "did": "do", "does": "do", "an": "a"}
LEMMAS |= {"his": "he", "her": "she", "its": "it", "people": "person"}
TAGS = {
    "ADJ": "JJ", "ADP": "IN", "ADV": "RB", "CCONJ": "CC", "DET": "DT", "NUM": "CD", "PART": "RB", "PRON": "PRP",
    "PROPN": "NNP", "SCONJ": "IN",
}  # fmt: skip


def tag(form: str, upos: str, relation: str, dependents: set[str]) -> str:
    """Return the part of speech of a word by the tags of the Penn Treebank.

    upos:       part of speech by the universal tags.
    relation:   dependency relation of the word to its head.
    dependents: dependency relations of other words to this word.
    """
    match upos:
        case "NOUN":
            # Such as brass and physics.
            return "NNS" if form == "people" or (form.endswith("s") and not form.endswith(("ss", "ics"))) else "NN"
        case "AUX":
            return "VBZ" if form in ("is", "does") else "VBD"
        case "VERB" if "aux:pass" in dependents:
            return "VBN"
        case "VERB" if "aux" in dependents:
            return "VB"
        case "VERB":
            return "VBZ" if form in PRESENT else "VBD" if form in LEMMAS else "VBP"
        case "PUNCT":
            return form
        case "PRON" if relation == "nmod:poss":
            return "PRP$"
        case "ADP" if relation == "compound:prt":
            return "RP"
    return TAGS[upos]


def conllu(sentence: Sentence, *comments: str) -> str:
    """Return a sentence in CoNLL-U, with its mentions in the column MISC.

    comments: lines above the sentence, without `#`.
    """
    lines = [f"# {comment}" for comment in comments]
    for index, (form, upos, head, relation) in enumerate(sentence.words):
        lower = form if upos == "PROPN" else form.lower()
        dependents = {relation for _, _, head, relation in sentence.words if head == index}
        xpos = tag(form.lower(), upos, relation, dependents)
        lemma = lower.removesuffix("s") if xpos == "NNS" else lower
        if upos in ("VERB", "AUX", "PRON", "DET") or lower == "people":
            lemma = LEMMAS.get(lower, lower)
        # Brackets of one word close before longer mentions open, and of those that end together, the last opened closes
        # first.
        opened = [
            f"({entity}" + ")" * (last == index) for first, last, entity, _ in sentence.mentions if first == index
        ]
        closed = [f"{it[2]})" for it in reversed(sentence.mentions) if it[1] == index and it[0] < index]
        misc = "Entity=" + "".join(opened + closed) if opened or closed else "_"
        lines.append("\t".join([str(index + 1), form, lemma, upos, xpos, "_", str(head + 1), relation, "_", misc]))
    return "\n".join(lines) + "\n\n"


def treebank(part: str, size: int) -> str:
    """Return the first `size` sentences of a part, dev or train, with their trees, in CoNLL-U."""
    sentences = (it for article in told(part, size) for passage in article.passages for it in passage.sentences)
    return "".join(
        conllu(replace(sentence, mentions=[]), f"sent_id = {part}-{number:05d}")
        for number, sentence in enumerate(islice(sentences, size))
    )


def documents(part: str, size: int) -> str:
    """Return the first `size` articles of a part, dev or train, with their trees and mentions, in CoNLL-U."""
    return "".join(
        conllu(sentence, *([] if index else [f"newdoc id = {part}-{number:05d}"]))
        for number, article in enumerate(told(part, size))
        for index, sentence in enumerate(it for passage in article.passages for it in passage.sentences)
    )


def main(folder: Path) -> None:
    for part, size in (("dev", 500), ("train", 3200)):
        (folder / f"questions_{part}.json").write_text(json.dumps(squad(part, size)) + "\n")
    for task, part, size in (
        ("paraphrase", "dev", 300),
        ("paraphrase", "train", 1600),
        ("entailment", "dev", 300),
        ("entailment", "train", 2240),
    ):
        with open(folder / f"{task}_{part}.tsv", "w", newline="") as file:
            table = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE)
            table.writerow(["id", "sentence1", "sentence2", "label"])
            table.writerows([f"{part}-{number:05d}", *pair] for number, pair in enumerate(pairs(part, size, task)))
    for part, size in (("dev", 300), ("train", 1000)):
        (folder / f"trees_{part}.conllu").write_text(treebank(part, size))
    (folder / "stories.conllu").write_text(documents("dev", 60))
    with open(folder / "paragraphs.jsonl", "w") as file:
        for number, article in enumerate(told("dev", 100)):
            document = {"id": f"dev-{number:05d}", "paragraphs": [passage.text for passage in article.passages]}
            file.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
