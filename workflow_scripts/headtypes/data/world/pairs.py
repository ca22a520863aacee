"""Sentence pairs whose label follows from the facts they tell: paraphrase and entailment."""

from dataclasses import dataclass, replace

import numpy as np

from headtypes.data.world.entities import Entity, year
from headtypes.data.world.grammar import sentence
from headtypes.data.world.passages import Article, Passage
from headtypes.data.world.relations import BY_SHAPE, Fact
from headtypes.data.world.telling import Narrator, Style, choice, draw_style, joined

# Of the pairs that are not paraphrases, the share with another fact; and, cumulated, that with two changes in one fact.
# The rest have one change.
_OTHER_FACT, _TWO_CHANGES = 0.25, 0.55
ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2

# What a sentence says about its topic: facts, each with the role that the topic plays.
TopicFacts = list[tuple[Fact, str]]


@dataclass(frozen=True)
class Pair:
    """Two texts, the facts that each tells, and the label. negated: the second denies its fact."""

    first: str
    second: str
    first_facts: tuple[Fact, ...]
    second_facts: tuple[Fact, ...]
    label: int
    negated: bool = False


def _tell(facts: TopicFacts, styles: list[Style]) -> str:
    """One sentence with the topic by its full name."""
    fact, role = facts[0]
    return sentence(joined(facts, fact.get(role).phrase(), styles)).text


def _others(article: Article, entity: Entity) -> list[Entity]:
    """The article's other entities of the same kind and sort."""
    others = {
        other.key: other
        for passage in article.passages
        for fact, _, _ in passage.facts
        for _, other in fact.fillers
        if other.kind == entity.kind and (other.kind != "work" or other.sort == entity.sort) and other != entity
    }
    return list(others.values())


def _another(rng: np.random.Generator, article: Article, entity: Entity) -> Entity | None:
    """Another entity that could take its place; for a year, a nearby one."""
    if entity.kind == "year":
        return year(int(entity.name) + int(choice(rng, (-1, 1))) * int(rng.integers(1, 30)))
    others = _others(article, entity)
    return choice(rng, others) if others else None


def _altered(rng: np.random.Generator, article: Article, fact: Fact, roles: list[str]) -> Fact | None:
    """The fact with another filler in one of the roles; None if there is no other."""
    for role in [roles[i] for i in rng.permutation(len(roles))]:
        other = _another(rng, article, fact.get(role))
        if other is not None and other not in dict(fact.fillers).values():
            return fact.with_filler(role, other)
    return None


def _plain(style: Style) -> Style:
    """The style without its adverb, which would make a difference of its own."""
    return replace(style, adverb=None)


def _changed(rng: np.random.Generator, article: Article, fact: Fact, roles: list[str]) -> Fact | None:
    """The fact with one thing changed: its relation, where another takes the same fillers, or one of the roles."""
    kin = [relation for relation in BY_SHAPE[fact.relation.shape] if relation != fact.relation]
    if kin and rng.random() < 0.35:
        return Fact(choice(rng, kin), fact.fillers)
    return _altered(rng, article, fact, roles)


def paraphrase(rng: np.random.Generator, article: Article, passage: Passage, label: int) -> Pair | None:
    """Make a pair: 1, both sentences tell the same facts; 0, they do not. None if nothing fits.

    One fact, or two of one subject. Of the pairs that differ, one in four tells another fact of the same subject, the
    rest the same fact with one or two things changed.
    """
    subject = choice(rng, passage.subjects)
    about = [(fact, role) for fact, role, _ in passage.facts if fact.get(role) == subject]
    about = [about[i] for i in rng.permutation(len(about))]
    original, others = about[: 1 + int(rng.random() < 0.4)], about[1:][::-1]
    again = list(original)
    if label == 0:
        at, grade = int(rng.integers(len(original))), rng.random()
        fact, role = original[at]
        if grade < _OTHER_FACT:
            again[at] = others[0]
        else:
            # Two facts share their subject, which then has to stay.
            roles = [r for r in fact.roles if r != role or len(original) == 1]
            changed: Fact | None = fact
            for _ in range(2 if grade < _TWO_CHANGES else 1):
                changed = changed and _changed(rng, article, changed, roles)
            if changed is None:
                return None
            again[at] = (changed, role)
        if {fact for fact, _ in again} == {fact for fact, _ in original} or len(set(again)) < len(again):
            return None
    styles = [_plain(draw_style(rng, fact)) for fact, _ in original]
    ways = [_plain(draw_style(rng, new, avoid=style)) for (new, _), style in zip(again, styles, strict=True)]
    if len(again) > 1 and rng.random() < 0.5:
        again, ways = again[::-1], ways[::-1]
    elif len(again) == 1 and again[0][0].relation.converse and rng.random() < 0.5:
        fact, role = again[0]
        again = [(fact, "object" if role == "subject" else "subject")]
    facts = [tuple(fact for fact, _ in side) for side in (original, again)]
    first, second = _tell(original, styles), _tell(again, ways)
    return Pair(first, second, *facts, label) if first != second else None


def _unsaid(rng: np.random.Generator, article: Article, topic: Entity, premise: list[Fact]) -> tuple[Fact, str] | None:
    """A fact of another subject, said of the topic, which the premise neither supports nor contradicts."""
    relations = [fact.relation for fact in premise if topic in dict(fact.fillers).values()]
    fillers = {entity for fact in premise for _, entity in fact.fillers}
    options = [
        (fact.with_filler(role, topic), role)
        for passage in article.passages
        for fact, role, _ in passage.facts
        if fact.get(role).kind == topic.kind
        and (topic.kind != "work" or fact.get(role).sort == topic.sort)
        and fact.relation not in relations
        and not ("subject" in fact.relation.determined and fillers & {e for r, e in fact.fillers if r != role})
    ]
    options = [(fact, role) for fact, role in options if len(set(dict(fact.fillers).values())) == len(fact.fillers)]
    return choice(rng, options) if options else None


def entailment(rng: np.random.Generator, article: Article, passage: Passage, label: int) -> Pair | None:
    """Make a pair: a premise of one to three sentences, a hypothesis on one of its subjects. None if nothing fits.

    Entailment repeats a fact, sometimes with less detail. Contradiction denies one, or changes the filler of a role
    that can have only one. Neutral says what the premise leaves open, or adds a detail to it.
    """
    topic = choice(rng, passage.subjects)
    own = [(fact, role) for fact, role, _ in passage.facts if fact.get(role) == topic][: int(rng.integers(1, 3))]
    rest = [(fact, role) for fact, role, _ in passage.facts if fact.get(role) != topic]
    at = int(rng.integers(len(own)))
    fact, role = own[at]
    details = [r for r in fact.roles if r not in ("subject", "object")] if len(fact.roles) > 2 else []
    hypothesis, negated = fact, False
    if label == ENTAILMENT:
        if details and rng.random() < 0.5:
            hypothesis = fact.without(choice(rng, details))
    elif label == CONTRADICTION:
        roles = [r for r in fact.roles if r in fact.relation.determined and r != role]
        altered = _altered(rng, article, fact, roles) if roles and rng.random() < 0.8 else None
        hypothesis, negated = altered or fact, altered is None
    elif details and rng.random() < 0.35:
        own[at] = (fact.without(choice(rng, details)), role)
    else:
        unsaid = _unsaid(rng, article, topic, [f for f, _ in own + rest])
        if unsaid is None:
            return None
        (hypothesis, role), negated = unsaid, rng.random() < 0.15
    premise = own + (rest[:1] if rng.random() < 0.4 else [])
    narrator = Narrator(rng)
    text = " ".join(narrator.tell(f.get(r), [(f, r)]).text for f, r in premise)
    style = replace(_plain(draw_style(rng, hypothesis)), front=False, negated=negated)
    return Pair(
        text,
        _tell([(hypothesis, role)], [style]),
        tuple(f for f, _ in premise),
        (hypothesis,),
        label,
        negated,
    )
