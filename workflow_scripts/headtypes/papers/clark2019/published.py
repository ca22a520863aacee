"""The numbers that Clark et al. 2019 published, and their contradictions, as `reference/clark2019.yaml` has them."""

from typing import Generic, Literal, TypeVar

from headtypes.papers.paper import Data, Published

Row = TypeVar("Row", bound=Data)
Direction = Literal["dependent_to_head", "head_to_dependent"]
# Systems of Tables 1 to 3, as tables and reasons have them, in the order of the rows of Table 3.
SYSTEMS = {
    "nearest": "nearest",
    "head_match": "head match",
    "rules": "rules",
    "right_branching": "right-branching",
    "best_offset": "the best offset",
    "best_head": "the best head",
    "distance_and_words": "distance and words",
    "random_network": "random network",
    "attention": "attention",
    "attention_and_words": "attention and words",
}
MENTIONS = ("pronoun", "proper", "nominal")
# Among which words a head's guess is taken, in words.
READINGS = {
    "words": "among all other words",
    "words_before": "among the words before",
    "mentions": "among the head words of candidates",
}


class TreebankData(Data):
    """The name of the paper's treebank, and the numbers of its sentences for training and for development."""

    source: str
    training_sentences: int
    dev_sentences: int


class DataSets(Data):
    """The names of the paper's data sets: of its texts, its treebank, and its documents with coreference."""

    segments: str
    treebank: TreebankData
    coreference: str


class SurfaceValue(Data):
    """A value of section 3 of the paper, such as the mean attention to [SEP], whose `statistic` is "sep".

    value: the number. above, below: a bound ("over 0.5"), if no number is printed. wording: words, if there is neither.
    heads: number of heads whose statistic is beyond this bound, if the text counts heads.
    layers: the layers that the text names, from 1; if it counts heads, the layer of each of these heads.
    """

    id: str
    place: str
    statistic: str
    value: float | None = None
    above: float | None = None
    below: float | None = None
    heads: int | None = None
    layers: tuple[int, ...] = ()
    wording: str = ""


class Digitised(Data):
    """Values that were read off the paper's released figures.

    by_layer: {statistic: the mean over the heads of each layer}. uniform_entropy: entropy of uniform attention in nats.
    heads_over_half: {"previous" or "next": {layer, from 1: attention of its only head that gives the token over 0.5}}.
    """

    place: str
    by_layer: dict[str, list[float]]
    uniform_entropy: float
    heads_over_half: dict[str, dict[int, float]]


class RelationRow(Data):
    """A published row of Table 1: the best head of a dependency relation, and the best fixed offset.

    head: the paper's name of the head, layer and head from 1. offset: in words to the right, negative to the left.
    direction: "dependent_to_head" if a dependent looks at its syntactic head, else "head_to_dependent".
    accuracy, baseline: percent of the words that look, for which the best head, or the best offset, is right.
    derived: labels of Universal Dependencies from which our relation is derived; differs: what differs in annotation.
    """

    relation: str
    head: str
    direction: Direction
    accuracy: float
    baseline: float
    offset: int
    derived: str
    differs: str = ""


class PublishedTable(Data, Generic[Row]):
    """One of the paper's Tables 1 to 3; place: its section and number, such as "section 5, Table 3"."""

    place: str
    rows: list[Row]


class CoreferenceRow(Data):
    """A published row of Table 2: percent of mentions whose antecedent a system selects: all, and by type of mention.

    A percentage is None if it is not published. comparable: whether the mentions are of the same kind as ours.
    """

    system: str
    all: float
    pronoun: float | None = None
    proper: float | None = None
    nominal: float | None = None
    comparable: bool = True


class ProbeRow(Data):
    """A published row of Table 3: the attachment score of a probe, such as "attention_and_words", in percent.

    comparable: whether the score counts only edges in the right direction, as our scores do.
    """

    probe: str
    uas: float
    comparable: bool = True


class Behaviour(Data):
    """A behaviour of heads in Figure 6, such as "broad": heads have it if their `statistic` is above a limit.

    above: the limit on the paper's text. uniform: entropy in nats of evenly spread attention on the paper's text, if
    the limit is proportional to that entropy on other texts; None if the limit is the same on every text.
    """

    name: str
    statistic: str
    above: float
    uniform: float | None = None


class Clark2019(Published):
    """The published data of Clark et al. 2019; layers: number of layers of the paper's model."""

    layers: int
    data: DataSets
    surface: list[SurfaceValue]
    digitised: Digitised
    relations: PublishedTable[RelationRow]
    coreference: PublishedTable[CoreferenceRow]
    probes: PublishedTable[ProbeRow]
    behaviours: list[Behaviour]

    @property
    def rows(self) -> tuple[str, ...]:
        return ("base",)


def our_relation(relation: str) -> tuple[str, str]:
    """Return the (annotation, name) by which our tables list a relation of the paper, such as ("stanford", "dobj")."""
    from headtypes.analyses.relations.accuracy import POSS_OF_MARK, TOTALS

    if relation in TOTALS:
        return "universal", relation
    return "stanford", POSS_OF_MARK if relation == "poss" else relation
