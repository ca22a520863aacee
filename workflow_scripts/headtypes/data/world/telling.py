"""From facts to sentences: voice, order, verbs, and references to what was named before."""

from dataclasses import dataclass, replace

import numpy as np

from headtypes.data.world.entities import Entity, article_for
from headtypes.data.world.grammar import Phrase, Sentence, sentence
from headtypes.data.world.relations import Fact, Verb

PRONOUN_SHARE = 0.65
SHORT_SHARE = 0.2
_ADVERBS = ("later", "finally", "quietly", "suddenly", "soon", "gladly")
_COMPANIONS = ("friend", "neighbour", "cousin", "partner")
_SOURCES = (("records", "show"), ("letters", "say"), ("guides", "claim"), ("newspapers", "report"))
_FILLERS = (("winter", "long"), ("harvest", "poor"), ("roads", "bad"), ("summer", "dry"), ("people", "poor"),
            ("houses", "small"), ("streets", "narrow"), ("food", "cheap"))  # fmt: skip
_APPOSITIONS = {
    "town": ("market", "mining", "harbour", "border"),
    "work": ("short", "famous", "popular", "modern"),
    "event": ("local", "noisy", "popular", "cheerful"),
}


def choice(rng: np.random.Generator, options):
    """One of the options, all equally likely."""
    return options[int(rng.integers(len(options)))]


@dataclass(frozen=True)
class Style:
    """Decisions on how a fact is told.

    verb: which of the relation's verbs. adjuncts: their roles, in order. front: whether the first
    adjunct opens the sentence. adverb: a word before the verb, or None. negated: whether the fact is denied.
    """

    verb: Verb
    adjuncts: tuple[str, ...]
    front: bool = False
    adverb: str | None = None
    negated: bool = False


def draw_style(rng: np.random.Generator, fact: Fact, avoid: Style | None = None) -> Style:
    """Draw a way to tell a fact, with another verb and order than `avoid` where there are others."""
    verbs = [verb for verb in fact.relation.verbs if avoid is None or verb != avoid.verb] or fact.relation.verbs
    adjuncts = tuple(role for role in fact.roles if role not in ("subject", "object"))
    front = bool(adjuncts) and rng.random() < 0.25
    if avoid is not None and adjuncts:
        front = not avoid.front
    if len(adjuncts) > 1 and (front or rng.random() < 0.2):
        adjuncts = adjuncts[::-1]
    eventful = fact.relation.subject == "person" and fact.relation.rank == 1 and not fact.relation.passive
    adverb = choice(rng, _ADVERBS) if eventful and rng.random() < 0.12 else None
    return Style(choice(rng, verbs), adjuncts, front, adverb)


def preposition_phrase(preposition: str, phrase: Phrase, relation: str = "obl") -> Phrase:
    """A phrase with a preposition before it."""
    return phrase.as_relation(relation, Phrase(preposition, "ADP", "case"))


def clause(fact: Fact, topic_role: str, topic: Phrase | None, style: Style, relation: str = "root") -> Phrase:
    """The clause that tells a fact with the filler of `topic_role` as its grammatical subject.

    topic: how the subject is referred to, None where it is left out (a second verb after `and`).
    """
    verb, converse = style.verb, topic_role == "object"
    passive = fact.relation.passive or converse
    before: list[Phrase] = []
    if topic is not None:
        before.append(topic.as_relation("nsubj:pass" if passive else "nsubj"))
    denial = [Phrase("not", "PART", "advmod")] if style.negated else []
    adverb = [Phrase(style.adverb, "ADV", "advmod")] if style.adverb else []
    if passive:
        be = "is" if verb.present else "was"
        before += [Phrase(be, "AUX", "aux:pass"), *denial, *adverb]
        form = verb.participle
    elif style.negated:
        before += [Phrase("does" if verb.present else "did", "AUX", "aux"), *denial, *adverb]
        form = verb.base
    else:
        before += adverb
        form = verb.finite
    after: list[Phrase] = []
    if verb.particle:
        after.append(Phrase(verb.particle, "ADP", "compound:prt"))
    complement = fact.get("subject" if converse else "object")
    if complement is not None:
        if converse:
            after.append(preposition_phrase("by", complement.phrase(), "obl:agent"))
        elif verb.preposition:
            after.append(preposition_phrase(verb.preposition, complement.phrase()))
        else:
            after.append(complement.phrase().as_relation("obj"))
    if verb.tail:
        after.append(preposition_phrase(verb.tail[0], Phrase(verb.tail[1], "NOUN")))
    prepositions = {adjunct.role: adjunct.preposition for adjunct in fact.relation.adjuncts}
    adjuncts = [preposition_phrase(prepositions[role], fact.get(role).phrase()) for role in style.adjuncts]
    if style.front and adjuncts and topic is not None:
        before = [adjuncts.pop(0), Phrase(",", "PUNCT", "punct"), *before]
    return Phrase(form, "VERB", relation, before=tuple(before), after=(*after, *adjuncts))


def joined(facts: list[tuple[Fact, str]], topic: Phrase, styles: list[Style]) -> Phrase:
    """One clause, or two of the same topic joined by `and`. facts: with the topic's role in each."""
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
    """The clause as the statement of some source."""
    noun, verb = choice(rng, _SOURCES)
    subject = Phrase(noun, "NOUN", "nsubj", before=(Phrase("old", "ADJ", "amod"),))
    said = replace(root, relation="ccomp", before=(Phrase("that", "SCONJ", "mark"), *root.before))
    return Phrase(verb, "VERB", before=(subject,), after=(said,))


def filler(rng: np.random.Generator) -> Sentence:
    """A sentence that tells no fact."""
    noun, adjective = choice(rng, _FILLERS)
    be = "were" if noun.endswith("s") or noun == "people" else "was"
    subject = Phrase(noun, "NOUN", "nsubj", before=(Phrase("the", "DET", "det"),))
    time = Phrase("year", "NOUN", "obl", before=(Phrase("that", "DET", "det"),))
    return sentence(Phrase(adjective, "ADJ", before=(subject, Phrase(be, "AUX", "cop")), after=(time,)))


def with_apposition(rng: np.random.Generator, entity: Entity) -> Phrase:
    """The full name, followed by what sort of thing it is."""
    word = choice(rng, _APPOSITIONS[entity.kind])
    relation = "compound" if entity.kind == "town" else "amod"
    upos = "NOUN" if entity.kind == "town" else "ADJ"
    modifiers = (Phrase(article_for(word), "DET", "det"), Phrase(word, upos, relation))
    apposition = Phrase(entity.sort, "NOUN", "appos", before=modifiers)
    comma = Phrase(",", "PUNCT", "punct")
    return replace(entity.phrase(), outer_right=(comma, apposition, comma))


class Narrator:
    """Tells facts in order and remembers who was named, so that pronouns and short names can follow."""

    def __init__(self, rng: np.random.Generator):
        """rng: decides how to refer to what was named before."""
        self._rng = rng
        self._named: set[str] = set()
        self._previous: Entity | None = None

    def refer(self, topic: Entity, plain: bool = False) -> Phrase:
        """Refer to the subject of the next sentence: a pronoun only for the subject of the sentence before."""
        rng, follows = self._rng, self._previous == topic
        previous, self._previous = self._previous, topic
        if topic.key not in self._named:
            self._named.add(topic.key)
            if topic.kind == "person" and previous is not None and previous.kind == "person" and rng.random() < 0.2:
                owner = Phrase(previous.possessive, "PRON", "nmod:poss", entity=previous.key, mention="pronoun")
                name = topic.phrase().as_relation("appos")
                return Phrase(choice(rng, _COMPANIONS), "NOUN", before=(owner,), after=(name,))
            if topic.kind != "person" and not plain and rng.random() < 0.2:
                return with_apposition(rng, topic)
            return topic.phrase()
        draw = rng.random()
        if follows and draw < PRONOUN_SHARE:
            return topic.pronoun_phrase()
        if (topic.kind == "person" or follows) and draw < PRONOUN_SHARE + SHORT_SHARE:
            return topic.short_phrase()
        return topic.phrase()

    def tell(self, topic: Entity, facts: list[tuple[Fact, str]]) -> Sentence:
        """Tell one fact about the topic, or two joined by `and`. facts: with the topic's role in each."""
        rng = self._rng
        styles = [draw_style(rng, fact) for fact, _ in facts]
        root = joined(facts, self.refer(topic, plain=len(facts) > 1), styles)
        if not styles[0].front and len(facts) == 1 and rng.random() < 0.08:
            root = reported(rng, root)
        return sentence(root, tuple(fact for fact, _ in facts))
