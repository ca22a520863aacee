"""What can be true in the generated world: relations, the verbs that tell them, and facts."""

from dataclasses import dataclass
from functools import partial

from headtypes.data.world.entities import TOPICS, Entity


@dataclass(frozen=True)
class Verb:
    """One way to say a relation.

    preposition: what the object takes, None for a direct object. particle: `up` in `grew up`. tail: (preposition, noun)
    that always follows the object. present: told in the present tense, `finite` then being that form.
    """

    base: str
    finite: str
    participle: str
    preposition: str | None = None
    particle: str | None = None
    tail: tuple[str, str] | None = None
    present: bool = False


@dataclass(frozen=True)
class Adjunct:
    """A place, time or other circumstance of a relation: its role, the kind of its filler, and the preposition."""

    role: str
    kind: str
    preposition: str


@dataclass(frozen=True)
class Relation:
    """A relation between a subject, an object (or none) and adjuncts.

    object: `kind` or `kind:sort`. passive: the subject undergoes (`was born`). converse: the object can become the
    subject of a passive clause (`was written by`). determined: the roles that can have but one filler once subject and
    object are given, so that another filler contradicts. rank: 0 for how a subject begins, 2 for how it ends, 1 for
    what lies between.
    """

    name: str
    subject: str
    verbs: tuple[Verb, ...]
    object: str | None = None
    adjuncts: tuple[Adjunct, ...] = ()
    passive: bool = False
    converse: bool = False
    determined: frozenset[str] = frozenset()
    rank: int = 1

    @property
    def shape(self) -> tuple:
        """What the relation takes: relations of one shape can tell of the same fillers."""
        return self.subject, self.object, self.adjuncts, self.passive


@dataclass(frozen=True)
class Fact:
    """A relation with its fillers: role -> entity, subject first, then object, then adjuncts."""

    relation: Relation
    fillers: tuple[tuple[str, Entity], ...]

    def get(self, role: str) -> Entity | None:
        """The filler of a role, None where the fact leaves it open."""
        return dict(self.fillers).get(role)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that have a filler."""
        return tuple(role for role, _ in self.fillers)

    def with_filler(self, role: str, entity: Entity) -> "Fact":
        """The same fact with another filler in one role."""
        return Fact(self.relation, tuple((r, entity if r == role else e) for r, e in self.fillers))

    def without(self, role: str) -> "Fact":
        """The same fact with one role left open."""
        return Fact(self.relation, tuple((r, e) for r, e in self.fillers if r != role))


PLACE = Adjunct("place", "town", "in")
YEAR = Adjunct("year", "year", "in")


def _regular(*bases: str, preposition: str | None = None, **more) -> tuple[Verb, ...]:
    """Regular verbs: a base in -e takes -d, any other -ed."""
    pasts = [base + ("d" if base.endswith("e") else "ed") for base in bases]
    return tuple(Verb(base, past, past, preposition, **more) for base, past in zip(bases, pasts, strict=True))


def _about(subject: str, name: str, verbs: tuple[Verb, ...], what: str | None = None, *adjuncts, **more) -> Relation:
    return Relation(name, subject, verbs, what, adjuncts, **more)


_person, _town, _work, _event = (partial(_about, topic) for topic in TOPICS)
_ONCE = frozenset({"place", "year"})
_IN_ONE_YEAR = frozenset({"year"})
_BY_ONE = frozenset({"year", "subject"})
_OF_ONE = frozenset({"object"})

RELATIONS = (
    _person("born", (Verb("bear", "bore", "born"),), None, PLACE, YEAR, passive=True, determined=_ONCE, rank=0),
    _person("died", _regular("die"), None, PLACE, YEAR, determined=_ONCE, rank=2),
    _person("grew_up", (Verb("grow", "grew", "grown", "in", "up"),), "town", determined=_OF_ONE, rank=0),
    _person("moved", _regular("move", preposition="to"), "town", YEAR),
    _person("visited", (*_regular("visit"), *_regular("tour")), "town", YEAR, converse=True),
    _person("studied", (Verb("study", "studied", "studied"), *_regular("learn")), "field", PLACE),
    _person("taught", (Verb("teach", "taught", "taught"), *_regular("lecture", preposition="on")), "field", PLACE),
    _person("worked", _regular("work", "serve", preposition="as"), "profession", PLACE),
    _person("married", (Verb("marry", "married", "married"),), "person", YEAR, determined=_IN_ONE_YEAR),
    _person("met", (Verb("meet", "met", "met"), *_regular("encounter")), "person", PLACE),
    _person("hired", (*_regular("hire"), *_regular("employ")), "person", YEAR),
    _person("wrote", (Verb("write", "wrote", "written"),), "work:novel", YEAR, converse=True, determined=_BY_ONE),
    _person("painted", _regular("paint"), "work:painting", YEAR, converse=True, determined=_BY_ONE),
    _person("composed", _regular("compose"), "work:opera", YEAR, converse=True, determined=_BY_ONE),
    _person("founded", _regular("found", "establish", "open"), "institution", PLACE, YEAR, determined=_ONCE),
    _person("bought", (Verb("buy", "bought", "bought"), *_regular("purchase")), "thing", PLACE),
    _person("lost", (Verb("lose", "lost", "lost"),), "thing", PLACE),
    _person("built", (Verb("build", "built", "built"), *_regular("construct")), "building", YEAR),
    _person("won", (Verb("win", "won", "won"), *_regular("receive")), "prize", YEAR),
    _person("settled", (*_regular("settle"), *_regular("colonize")), "town", YEAR, converse=True),
    _person("restored", _regular("restore", "repair"), "work", YEAR, converse=True),
    _person("copied", (Verb("copy", "copied", "copied"),), "work", YEAR, converse=True),
    _person("acquired", _regular("acquire"), "work", YEAR, converse=True),
    _person("organized", _regular("organize", "arrange"), "event", YEAR, converse=True),
    _person("judged", _regular("judge"), "event", YEAR, converse=True),
    _town("lies", (Verb("lie", "lies", "lain", "on", present=True),), "river", determined=_OF_ONE, rank=0),
    _town("produced", _regular("produce", "export"), "product"),
    _town("elected", _regular("elect", tail=("as", "mayor")), "person", YEAR),
    _town("erected", _regular("erect", "raise"), "building", YEAR),
    _town("hosted", _regular("host", "welcome"), "event", YEAR, converse=True),
    _town("flooded", _regular("flood"), None, YEAR, passive=True),
    _town("traded", _regular("trade", preposition="with"), "town"),
    _town("honoured", _regular("honour", "celebrate"), "person", YEAR),
    _work("kept", (Verb("keep", "kept", "kept", present=True), *_regular("display", present=True)), None, PLACE,
          passive=True, determined=frozenset({"place"})),
    _work("stolen", (Verb("steal", "stole", "stolen"),), None, Adjunct("source", "town", "from"), YEAR, passive=True),
    _work("depicts", (Verb("depict", "depicts", "depicted", present=True),
                      Verb("portray", "portrays", "portrayed", present=True)), "scene", determined=_OF_ONE),
    _work("presented", _regular("present"), None, PLACE, YEAR, passive=True),
    _work("earned", _regular("earn"), "prize", YEAR),
    _work("banned", (Verb("ban", "banned", "banned"), Verb("forbid", "forbade", "forbidden")), None, PLACE, YEAR,
          passive=True),
    _work("dedicated", _regular("dedicate"), None, Adjunct("honoree", "person", "to"), passive=True,
          determined=frozenset({"honoree"})),
    _event("held", (Verb("hold", "held", "held"), *_regular("stage")), None, PLACE, YEAR, passive=True,
           determined=_ONCE, rank=0),
    _event("began", (Verb("begin", "began", "begun"), *_regular("start")), None, Adjunct("month", "month", "in"),
           determined=frozenset({"month"})),
    _event("lasted", _regular("last"), "duration", determined=_OF_ONE),
    _event("attracted", (*_regular("attract"), Verb("draw", "drew", "drawn")), "crowd", determined=_OF_ONE),
    _event("cost", (Verb("cost", "cost", "cost"),), "price", determined=_OF_ONE),
    _event("featured", _regular("feature", "include"), "scene"),
    _event("postponed", _regular("postpone"), None, YEAR, passive=True),
)  # fmt: skip


def fits(slot: str, entity: Entity) -> bool:
    """Whether an entity may fill a slot written `kind` or `kind:sort`."""
    kind, _, sort = slot.partition(":")
    return entity.kind == kind and sort in ("", entity.sort)


def rank(relation: Relation, role: str) -> int:
    """The rank of a relation for a topic in that role: a work begins with its author."""
    return 0 if role == "object" and "subject" in relation.determined else relation.rank


def relations_about(topic: Entity) -> list[tuple[Relation, str]]:
    """The relations a sentence about the topic can tell, each with the role that the topic plays in it."""
    about = [(relation, "subject") for relation in RELATIONS if relation.subject == topic.kind]
    about += [
        (relation, "object")
        for relation in RELATIONS
        if relation.converse and relation.object is not None and fits(relation.object, topic)
    ]
    return about


# Relations that take the same fillers, so that one can stand in another's place.
BY_SHAPE: dict[tuple, list[Relation]] = {}
for _relation in RELATIONS:
    BY_SHAPE.setdefault(_relation.shape, []).append(_relation)
