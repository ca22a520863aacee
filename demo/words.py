"""What there is in the demo's data: names, things, and what can be true of them."""

# ruff: noqa: SIM905 (lists of words are easier to read, and to add to, as one text)

from dataclasses import dataclass
from functools import partial
from itertools import product

WOMEN = tuple(
    "Agnes Alice Amelia Anna Beatrice Bridget Cecilia Clara Cora Daisy Dora Edith Eleanor Ella Emma Esther Eva "
    "Flora Frances Greta Hannah Helen Ida Irene Isabel Jane Joan Julia Kate Laura Lena Lily Lucy Mabel "
    "Margaret Martha Mary Nancy Nora Olive Paula Rachel Rosa Ruth Sarah Sophie Stella Susan Sylvia Vera".split()
)
MEN = tuple(
    "Adam Albert Alfred Arthur Ben Bernard Carl Charles Daniel David Edgar Edwin Felix Francis Frank George "
    "Gilbert Harold Henry Hugo Ivan Jack Jacob James John Joseph Karl Leo Leonard Louis Luke Mark Martin Max "
    "Michael Nathan Oscar Otto Patrick Paul Peter Philip Ralph Robert Roger Samuel Simon Thomas Victor Walter".split()
)
_SURNAMES = tuple(
    first + last
    for first, last in product(
        "Ash Barn Black Brook Clay Crow Dun Fair Gold Hart Hol Kel Lock Marl North Penn Rook Sand Stan Whit".split(),
        "bourne croft field ford hurst land ley man more ridge shaw well wood".split(),
    )
)
_TOWNS = tuple(
    first + last
    for first, last in product(
        "Alder Bram Cold Elm Fern Grim Hazel Kest Lang Mab Nor Oat Pen Quarr Rush Salt Thorn Ul Wind Yol".split(),
        "bury by combe dale gate ham mere mouth port stead ton wick worth".split(),
    )
)
TOWN_SIDES = tuple("East Great High Little Lower New Old Upper West".split())
_EMBLEMS = tuple(
    "Amber Anchor Apple Arrow Barley Bell Candle Cedar Cherry Copper Coral Crane Crystal Eagle Falcon Feather "
    "Fiddle Garden Hammer Harp Harvest Heron Honey Iron Ivory Jasper Lantern Laurel Lemon Lily Lion Maple "
    "Meadow Mirror Moon Oak Orchid Otter Owl Pearl Pepper Pine Plum Raven Ribbon River Rose Saddle Salmon "
    "Shell Silver Sparrow Spring Star Stone Swan Tiger Tulip Velvet Violet Willow Winter".split()
)
_TITLE_WORDS = tuple(
    "Bitter Blind Blue Bright Broken Burning Crooked Dark Distant Double Empty Endless Faithful Fallen Final "
    "First Forgotten Frozen Gentle Golden Green Grey Hidden Hollow Hungry Last Lonely Long Lost Lucky Narrow "
    "New Old Pale Patient Quiet Red Restless Sacred Secret Seventh Silent Sleeping Stolen Strange Sunken Third "
    "White Wild Wooden".split()
)
_TITLE_NOUNS = tuple(
    "Bridge Castle Circle Cloud Coast Corner Crown Daughter Door Dream Evening Father Field Fire Forest "
    "Fountain Gate Ghost Guest Harbour Hill Horse House Island Journey Key King Lake Letter Light Morning "
    "Mountain Night Ocean Orchard Path Pilot Prince Promise Queen Rain Road Room Sailor Sea Shadow Ship Sister "
    "Sky Stair Stranger Street Summer Tower Valley Village Voice Wall Well Window".split()
)
_EVENTS = tuple(
    "Ball Banquet Carnival Concert Congress Contest Exhibition Fair Feast Festival Market Parade Race Regatta "
    "Show Tournament".split()
)
_RIVERS = tuple(
    first + last
    for first, last in product(
        "Ard Bel Cam Dor Esk Fal Gar Har Ist Jor Lin Mel Nar Orr Pol Rin Sel Tav Urd Ver".split(),
        "en ing le ow un".split(),
    )
)
WORK_SORTS = ("novel", "painting", "opera")

# What the two parts of the data divide between them, so that they share no proper name.
PROPER_NAMES = {
    "person": _SURNAMES,
    "town": _TOWNS,
    "work": tuple(product(_TITLE_WORDS, _TITLE_NOUNS)),
    "event": tuple(product(_EMBLEMS, _EVENTS)),
    "river": _RIVERS,
    "prize": tuple(product(_EMBLEMS, ("Cup", "Medal", "Prize"))),
}

INSTITUTION_WORDS = tuple("free large local modern poor private public rural small weekly".split())
INSTITUTIONS = tuple("academy bakery bank brewery choir clinic club hospital library newspaper school theatre".split())
MATERIALS = tuple("brass bronze clay copper glass iron ivory leather silk silver tin wool".split())
THINGS = tuple("bell box chair clock coat cup drum flute hat lamp map mirror ring violin watch whistle".split())
STONES = tuple("brick granite limestone marble sandstone slate steel stone timber".split())
BUILDINGS = tuple("barn bridge canal chapel dam granary hotel lighthouse mill pier stable tower tunnel".split())
SCENE_WORDS = tuple("cold famous great long royal sad sudden terrible violent".split())
SCENES = tuple("battle dance escape funeral harvest hunt meeting siege storm trial voyage wedding winter".split())
PROFESSIONS = tuple(
    "actor baker barber butcher carpenter clerk cook doctor driver engineer farmer gardener guard judge lawyer "
    "librarian miner nurse pilot porter potter priest sailor soldier tailor teacher weaver".split()
)
FIELDS = tuple(
    "anatomy astronomy biology botany chemistry dance drama economics French geography geology geometry "
    "grammar Greek history latin law logic mathematics medicine music philosophy physics poetry theology "
    "zoology".split()
)
PRODUCTS = tuple(
    "beer bricks butter cheese cloth coal cotton glass honey leather lime linen oil paper salt silk soap steel "
    "sugar tea timber tobacco wheat wine wool".split()
)
MONTHS = tuple("January February March April May June July August September October November December".split())
SMALL_NUMBERS = tuple("two three four five six seven eight nine ten eleven twelve".split())
LARGE_NUMBERS = tuple("twenty thirty forty fifty sixty seventy eighty ninety 120 150 200 250 300 400 500 600".split())


@dataclass(frozen=True)
class Verb:
    """One verb by which a relation is told.

    base, finite, participle: forms of the verb, such as write, wrote, written.
    preposition: preposition before the object; None for a direct object.
    particle:    particle of the verb, such as `up` in `grew up`.
    tail:        (preposition, noun) that always follows the object.
    present:     whether the verb is told in the present tense; `finite` is then the present form.
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
    """A place, time or other circumstance of a relation.

    role:        role of the circumstance in the relation, such as place.
    kind:        kind of the entities that can fill the role, such as town.
    preposition: preposition before the entity.
    """

    role: str
    kind: str
    preposition: str


@dataclass(frozen=True)
class Relation:
    """A relation between a subject, an object (or none) and adjuncts.

    subject:    kind of the entities that can be the subject.
    verbs:      verbs by which the relation is told.
    object:     `kind` or `kind:sort` of the entities that can be the object; None for a relation without an object.
    passive:    whether the subject undergoes the event (`was born`).
    converse:   whether the object can become the subject of a passive clause (`was written by`).
    determined: roles that can have a single filler once subject and object are given, so that another filler
        contradicts.
    rank:       0 for how a subject begins, 2 for how it ends, 1 for everything in between.
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
        """The kinds of subject, object and adjuncts, and the voice. Relations of one shape take the same fillers."""
        return self.subject, self.object, self.adjuncts, self.passive


TOPICS = ("person", "town", "work", "event")
PLACE = Adjunct("place", "town", "in")
YEAR = Adjunct("year", "year", "in")


def _regular(*bases: str, preposition: str | None = None, **more) -> tuple[Verb, ...]:
    """Return regular verbs: a base in -e takes -d, any other base -ed.

    more: other fields of `Verb`.
    """
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
