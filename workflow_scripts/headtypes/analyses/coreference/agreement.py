"""What a mention and its antecedent must agree in: number, gender and person, in English."""

from typing import Literal, NamedTuple, TypeVar

Number = Literal["singular", "plural"]
Gender = Literal["male", "female", "neuter"]
Value = TypeVar("Value")


class Features(NamedTuple):
    """Number and gender, None where unknown, and person (1, 2, 3)."""

    number: Number | None
    gender: Gender | None
    person: int

    def agree(self, other: "Features") -> bool:
        """Whether persons are equal, and number and gender where both are known."""
        return self.person == other.person and all(
            None in pair or pair[0] == pair[1] for pair in ((self.number, other.number), (self.gender, other.gender))
        )


def _all(words: str, value: Value) -> dict[str, Value]:
    return dict.fromkeys(words.split(), value)


PRONOUNS: dict[str, Features] = {
    **_all("i me my mine myself", Features("singular", None, 1)),
    **_all("we us our ours ourselves", Features("plural", None, 1)),
    **_all("you your yours yourself yourselves", Features(None, None, 2)),
    **_all("he him his himself", Features("singular", "male", 3)),
    **_all("she her hers herself", Features("singular", "female", 3)),
    **_all("it its itself this that", Features("singular", "neuter", 3)),
    **_all("they them their theirs themselves themself these those", Features("plural", None, 3)),
}
# By the feature Number (Ptan: plurals without a singular, such as scissors), or by XPOS.
_NUMBERS: dict[str, Number] = {
    **_all("Sing NN NNP", "singular"),
    **_all("Plur Ptan NNS NNPS", "plural"),
}
_GENDERS: dict[str, Gender] = {
    **_all("mr. mr sir lord king man boy father brother son husband", "male"),
    **_all("mrs. mrs ms. ms miss lady queen woman girl mother sister daughter wife", "female"),
}


def gender_of(words: list[str]) -> Gender | None:
    """The gender of the first of these words (in lower case) that has one; None if none has."""
    return next((_GENDERS[word] for word in words if word in _GENDERS), None)


def number_of(word: str, feature: str, xpos: str, is_nominal: bool) -> Number | None:
    """The number of a head word that is not a pronoun of the list; None where it is unknown.

    word: in lower case; feature: the feature Number of Universal Dependencies; xpos: the part of speech of the Penn
    Treebank; both empty where there is none. A word with a part of speech that is no noun's has no number.
    """
    if feature in _NUMBERS:
        return _NUMBERS[feature]
    if xpos:
        return _NUMBERS.get(xpos)
    return "plural" if is_nominal and word.endswith("s") and not word.endswith("ss") else "singular"
