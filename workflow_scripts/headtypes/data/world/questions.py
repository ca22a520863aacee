"""Questions about facts, and where their answers stand."""

from dataclasses import dataclass

import numpy as np

from headtypes.data.world.entities import Entity
from headtypes.data.world.grammar import capital, join
from headtypes.data.world.passages import Passage
from headtypes.data.world.relations import Fact, Verb
from headtypes.data.world.telling import choice

QUESTIONS_PER_PASSAGE = 3
_KIND_OF_THING = {
    "town": "which town", "event": "which event", "river": "which river", "prize": "which prize",
    "month": "which month", "field": "which subject", "profession": "what", "product": "what",
    "thing": "what", "building": "what", "scene": "what", "institution": "what",
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """A question with its answer and what makes it hard.

    fact, role: what is asked. sentence: the index of the sentence that tells the fact. start: the answer's
    first character in the passage. elsewhere: the answer itself stands in an earlier sentence, behind a pronoun.
    same_verb: another subject stands in the same relation.
    """

    text: str
    answer: str
    start: int
    fact: Fact
    role: str
    sentence: int
    elsewhere: bool
    same_verb: bool


def _interrogative(rng: np.random.Generator, asked: Entity, preposition: str | None) -> tuple[str, str | None]:
    """The question word for an entity and what is left of its preposition at the end of the question."""
    if asked.kind == "person":
        return "who", preposition
    if asked.kind == "year":
        return choice(rng, ("when", "in which year", "in what year")), None
    if asked.kind == "town" and preposition in ("in", "to") and rng.random() < 0.6:
        return "where", None
    if asked.kind in ("month", "town") and preposition is not None:
        return f"{preposition} {_KIND_OF_THING[asked.kind]}", None
    if asked.kind == "duration":
        return "how long", None
    if asked.kind == "crowd":
        return f"how many {asked.words[-1][0]}", None
    if asked.kind == "price":
        return "how much", None
    if asked.kind == "work":
        return f"which {asked.sort}", preposition
    return _KIND_OF_THING[asked.kind], preposition


def word_question(rng: np.random.Generator, fact: Fact, role: str, verb: Verb) -> str:
    """Ask for the filler of a role. Everything else is given, but for circumstances that the answer does not need."""
    relation, asked = fact.relation, fact.get(role)
    prepositions = {adjunct.role: adjunct.preposition for adjunct in relation.adjuncts}
    subject, complement = fact.get("subject"), fact.get("object")
    given = []
    for name in prepositions:
        if name != role and fact.get(name) is not None and (role == "subject" or rng.random() < 0.3):
            given += [prepositions[name], fact.get(name).name]
    tail = [*verb.tail] if verb.tail else []
    particle = [verb.particle] if verb.particle else []
    thing = [form for form in (verb.preposition, complement.name) if form] if complement else []
    converse = relation.converse and verb.preposition is None and rng.random() < 0.35
    do, be = ("does", "is") if verb.present else ("did", "was")
    if role == "object" and not converse:
        word, rest = _interrogative(rng, asked, verb.preposition)
        forms = [word, do, subject.name, verb.base, *particle, *([rest] if rest else []), *tail, *given]
    elif role == "object":
        word, _ = _interrogative(rng, asked, None)
        forms = [word, be, verb.participle, "by", subject.name, *given]
    elif role == "subject" and converse:
        forms = [*choice(rng, ((["by", "whom"], []), (["who"], ["by"])))]
        forms = [*forms[0], be, complement.name, verb.participle, *forms[1], *given]
    elif role == "subject":
        word, _ = _interrogative(rng, asked, None)
        said = [be, verb.participle] if relation.passive else [verb.finite]
        forms = [word, *said, *particle, *thing, *tail, *given]
    else:
        word, rest = _interrogative(rng, asked, prepositions[role])
        end = [*given, *([rest] if rest else [])]
        if relation.passive:
            forms = [word, be, subject.name, verb.participle, *end]
        elif converse:
            forms = [word, be, complement.name, verb.participle, "by", subject.name, *end]
        else:
            forms = [word, do, subject.name, verb.base, *particle, *thing, *tail, *end]
    return capital(join([*forms, "?"]))


def _answer_place(passage: Passage, index: int, asked: Entity) -> tuple[int, int] | None:
    """Where the full name of what is asked stands: in the sentence itself, else in the nearest one before."""
    for at in range(index, -1, -1):
        for mention in passage.sentences[at].mentions:
            if mention.entity == asked.key and mention.kind == "name":
                return at, passage.span(at, mention)[0]
    return None


def questions_about(rng: np.random.Generator, passage: Passage) -> list[Question]:
    """Ask about a passage, preferably for things with rivals of their kind; each fact and role at most once."""
    text = passage.text
    kinds: dict[str, set[str]] = {}
    for sentence in passage.sentences:
        for mention in sentence.mentions:
            kinds.setdefault(mention.entity.partition(":")[0], set()).add(mention.entity)
    relations = [fact.relation.name for fact, _, _ in passage.facts]
    options, weights = [], []
    for fact, _, index in passage.facts:
        for role, asked in fact.fillers:
            place = _answer_place(passage, index, asked)
            if place is None:
                continue
            at, start = place
            same_verb = relations.count(fact.relation.name) > 1
            has_rivals = len(kinds[asked.kind]) > 1
            weight = 1.0 if has_rivals else 0.1
            weight *= 0.25 if at != index else 1.0
            weight *= 0.4 if asked.kind == "year" else 1.0
            weight *= 3.0 if same_verb else 1.0
            options.append((start, fact, role, index, at != index, same_verb))
            weights.append(weight)
    count = min(QUESTIONS_PER_PASSAGE, len(options))
    chosen = rng.choice(len(options), size=count, replace=False, p=np.array(weights) / sum(weights))
    asked_questions = []
    for number in chosen:
        start, fact, role, *_ = options[number]
        # A sentence starts with a capital, and the answer is what stands in the text.
        answer = text[start : start + len(fact.get(role).name)]
        wording = word_question(rng, fact, role, choice(rng, fact.relation.verbs))
        asked_questions.append(Question(wording, answer, *options[number]))
    return asked_questions
