"""Accuracy of heads and baselines at antecedents (Clark et al. 2019, section 4.3, Table 2), from stored guesses.

A baseline (docs/understand/clark.md) chooses a candidate for each coreferent mention: right if of the same entity.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float64, Int64

from headtypes.analyses.coreference.mentions import (
    CANDIDATES,
    Anaphor,
    AntecedentGuesses,
    Span,
    anaphors,
    sentence_with,
    spans_of,
)
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import Stored, read_arrays, write_arrays
from headtypes.core.statistics import mean_intervals
from headtypes.core.table_files import table_reader, write_csv
from headtypes.data.kinds.coreference import AnnotatedDocument, AnnotatedSentence
from headtypes.data.tasks import read_records


class WordFeatures(NamedTuple):
    """A mention's number (`singular`, `plural`), gender (`male`, `female`, `neuter`), person (1-3); None if unknown."""

    number: str | None
    gender: str | None
    person: int

    def agree(self, other: "WordFeatures") -> bool:
        return all(None in pair or pair[0] == pair[1] for pair in zip(self, other, strict=True))


def _all(words: str, value: Any) -> dict[str, Any]:
    return dict.fromkeys(words.split(), value)


_PRONOUNS = {
    **_all("i me my mine myself", WordFeatures("singular", None, 1)),
    **_all("we us our ours ourselves", WordFeatures("plural", None, 1)),
    **_all("you your yours yourself yourselves", WordFeatures(None, None, 2)),
    **_all("he him his himself", WordFeatures("singular", "male", 3)),
    **_all("she her hers herself", WordFeatures("singular", "female", 3)),
    **_all("it its itself this that", WordFeatures("singular", "neuter", 3)),
    **_all("they them their theirs themselves themself these those", WordFeatures("plural", None, 3)),
}
# By the feature Number (Ptan: plurals without a singular, such as scissors), or by XPOS.
_NUMBERS = _all("Sing NN NNP", "singular") | _all("Plur Ptan NNS NNPS", "plural")
_MEN = "mr. mr sir lord king man boy father brother son husband"
_WOMEN = "mrs. mrs ms. ms miss lady queen woman girl mother sister daughter wife"
_GENDERS = _all(_MEN, "male") | _all(_WOMEN, "female")
TYPES = ("pronoun", "proper", "nominal")


@dataclass(frozen=True)
class Reference(Span):
    """A mention as baselines see it: lower-case words, type (pronoun, proper, nominal), number, gender and person."""

    words: tuple[str, ...]
    type: str
    features: WordFeatures

    @property
    def head_word(self) -> str:
        return self.words[self.head - self.start]


def references(document: AnnotatedDocument, part: range, unread: Container[int] = ()) -> list[Reference]:
    found = []
    for span in spans_of(document, part, unread):
        before, sentence = sentence_with(document, part.start + span.start)
        start, end, head = (part.start + word - before for word in (span.start, span.end, span.head))
        words, type_ = tuple(map(str.lower, sentence.words[start : end + 1])), type_of(sentence, start, end, head)
        features = _features(sentence, start, end, head, type_)
        found.append(Reference(**vars(span), words=words, type=type_, features=features))
    return found


def type_of(sentence: AnnotatedSentence, start: int, end: int, head: int) -> str:
    """Return the type of a mention, `pronoun`, `proper` or `nominal`, by its head word.

    start, end, head: indices of the mention's first, last and head word in the sentence. UPOS decides the type or,
        without it, XPOS; without both, a list of pronouns and a capital letter do.
    """
    word, upos, xpos = sentence.words[head], sentence.upos[head], sentence.xpos[head]
    if upos or xpos:
        tag, pronouns, names = (upos, ("PRON",), ("PROPN",)) if upos else (xpos, ("PRP", "PRP$"), ("NNP", "NNPS"))
        return "pronoun" if tag in pronouns else "proper" if tag in names else "nominal"
    if start == end and word.lower() in _PRONOUNS:
        return "pronoun"
    return "proper" if word[0].isupper() else "nominal"


def _features(sentence: AnnotatedSentence, start: int, end: int, head: int, type_: str) -> WordFeatures:
    words = [word.lower() for word in sentence.words[start : end + 1]]
    word, xpos = sentence.words[head].lower(), sentence.xpos[head]
    if type_ == "pronoun" and word in _PRONOUNS:
        features = _PRONOUNS[word]
    else:
        ends_as_plural = type_ == "nominal" and word.endswith("s") and not word.endswith("ss")
        by_word = _NUMBERS.get(xpos) if xpos else "plural" if ends_as_plural else "singular"
        number = _NUMBERS.get(sentence.numbers[head], by_word)
        # That of the first word that has one.
        gender = next((_GENDERS[word] for word in words if word in _GENDERS), None)
        features = WordFeatures(number, gender, person=3)
    if sentence.heads is not None and sentence.relations is not None:
        dependents = [word for word in range(start, end + 1) if sentence.heads[word] == head + 1]
        # Words that are coordinated are several.
        if any(sentence.relations[word].partition(":")[0] == "conj" for word in dependents):
            return features._replace(number="plural")
    return features


# Which candidates pass, from the most to the least precise; the nearest of the first sieve that any passes is chosen.
_SIEVES: tuple[Callable[[Reference, Reference], bool], ...] = (
    lambda mention, candidate: mention.words == candidate.words,
    lambda mention, candidate: mention.head_word == candidate.head_word,
    lambda mention, candidate: mention.features.agree(candidate.features),
    lambda mention, candidate: True,
)


def nearest_other(anaphor: Anaphor) -> Reference | None:
    own = anaphor.mention
    # On a tie the earlier.
    others = (mention for mention in anaphor.mentions if mention.head != own.head)
    return min(others, key=lambda mention: (abs(mention.head - own.head), mention.head), default=None)


def _nearest(anaphor: Anaphor, passes: Callable[[Reference, Reference], bool]) -> Reference | None:
    passing = (candidate for candidate in anaphor.candidates if passes(anaphor.mention, candidate))
    # Of several with one head word, the one that starts last, then the longest.
    return max(passing, key=lambda candidate: (candidate.head, candidate.start, candidate.end), default=None)


BASELINES: dict[str, Callable[[Anaphor], Reference | None]] = {
    "nearest": lambda anaphor: _nearest(anaphor, _SIEVES[-1]),
    "head_match": lambda anaphor: _nearest(anaphor, _SIEVES[1]),
    "rules": lambda anaphor: next((chosen for sieve in _SIEVES if (chosen := _nearest(anaphor, sieve))), None),
}


def is_right(anaphor: Anaphor, chosen: Reference | None) -> bool:
    return chosen is not None and chosen.entity == anaphor.mention.entity


ALL = "all"
_NOWHERE = (pd.NA, pd.NA)
_NAMES = ("system", "candidates", "type", "chosen")
COLUMNS = (*_NAMES, "layer", "head", "mentions", "documents", "accuracy", "low", "high")
read_coreference = table_reader("holds no accuracies at antecedents", dict.fromkeys(COLUMNS))


@dataclass(frozen=True)
class MentionSums:
    """Numbers of mentions in each document, by rows: a row is one best head, or one baseline, on one type of mentions.

    system, candidates, type, chosen: of each row, the words in these columns of the table of `measure_coreference`.
    mentions: [document, row] number of mentions. right: [document, row] number of mentions whose antecedent is found;
        for the baseline `chance`, the sum of the probabilities to find the antecedent.
    """

    system: Annotated[list[str], Stored(dimension="row")]
    candidates: Annotated[list[str], Stored(dimension="row")]
    type: Annotated[list[str], Stored(dimension="row")]
    chosen: Annotated[list[str], Stored(dimension="row")]
    right: Float64[np.ndarray, "document row"]
    mentions: Int64[np.ndarray, "document row"]


class _Row(NamedTuple):
    # head: (layer, head), NA for baselines; scores: [mention], NaN for mentions that the row is not about.
    system: str
    candidates: str
    type: str
    chosen: str
    head: tuple
    scores: np.ndarray


def measure_coreference(
    documents: Sequence[AnnotatedDocument], guesses: AntecedentGuesses
) -> tuple[pd.DataFrame, MentionSums]:
    """Return (table, sums): accuracy at antecedents of every head, of the best heads and of baselines.

    sums: numbers of mentions and of right guesses, by document and table row (not of `head`). Columns of the table:
      system: `head` (any one head), `best_head` (the best on mentions of all types), `best_head_of_type` (the best on
          mentions of this type), or a baseline. A baseline guesses an earlier mention: `nearest`; `head_match`, the
          nearest with the same head word; `chance`, a random one; `rules`, the nearest with the same words, else with
          the same head word, else with agreeing number, gender and person, else any. `nearest_other` guesses the
          nearest mention on either side.
      candidates: words to guess, `words` (all others), `words_before`, or `mentions` (head words of earlier mentions).
      type: `pronoun`, `proper`, `nominal` or `all`.
      chosen: `documents` if the best head is chosen and scored on all documents, as in the paper; `halves` if chosen on
          documents of odd index and scored on those of even index, and the reverse; empty for other systems.
      layer, head: from 0; empty for baselines, and if the two halves choose different heads.
      mentions, documents: numbers of mentions, the same for all systems, and of documents with such mentions.
      accuracy, low, high: in percent, with the interval over documents; for `head`, low and high are NaN.
      above_{nearest, head_match, rules}, ..._low, ..._high: best head's accuracy minus the baseline's, in points.
    Raises `InputError` if the guesses are not of these documents.
    """
    rows, baselines, document = _rows(documents, guesses)
    scores = np.stack([row.scores for row in rows], axis=1)

    def of_documents(of_mentions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        by_document = pd.DataFrame(of_mentions).groupby(document)
        return by_document.sum().to_numpy(), by_document.count().to_numpy()

    table = pd.DataFrame([row[: len(_NAMES)] for row in rows], columns=_NAMES)
    for index, name in enumerate(("layer", "head")):
        table[name] = pd.array([row.head[index] for row in rows], "Int64")
    right, mentions = of_documents(scores)
    table["mentions"], table["documents"] = mentions.sum(0), (mentions > 0).sum(0)
    # An interval of every single head would say little and take long.
    named, best = (table["system"] != "head").to_numpy(), table["system"].str.startswith("best_head").to_numpy()
    compared = {"accuracy": (right, mentions)}
    for name in BASELINES:
        above = scores - baselines[name][:, None]
        compared[f"above_{name}"] = of_documents(np.where(best, above, np.nan))
    for name, (sums, sizes) in compared.items():
        prefix, lowest = ("", 0) if name == "accuracy" else (f"{name}_", -1)
        low, high = mean_intervals(sums, np.where(named, sizes, 0), (lowest, 1))
        with np.errstate(invalid="ignore"):
            mean = sums.sum(0) / sizes.sum(0)
        table[name], table[f"{prefix}low"], table[f"{prefix}high"] = 100 * mean, 100 * low, 100 * high
    texts = {name: table.loc[named, name].tolist() for name in _NAMES}
    return table, MentionSums(**texts, right=right[:, named], mentions=mentions[:, named])


def _rows(
    documents: Sequence[AnnotatedDocument], guesses: AntecedentGuesses
) -> tuple[list[_Row], dict[str, np.ndarray], np.ndarray]:
    coreferent, document = guessed_mentions(documents, guesses)
    right = np.array(
        [np.isin(guess, list(anaphor.antecedents)) for guess, anaphor in zip(guesses.guess, coreferent, strict=True)]
    )
    types = np.array([anaphor.mention.type for anaphor in coreferent])
    by_type = {ALL: np.ones(len(coreferent), bool), **{type_: types == type_ for type_ in TYPES}}
    by_type = {type_: chosen for type_, chosen in by_type.items() if chosen.any()}
    found = {name: [is_right(anaphor, choose(anaphor)) for anaphor in coreferent] for name, choose in BASELINES.items()}
    # That a random head word of the candidates is the head word of an antecedent.
    found["chance"] = [len(anaphor.antecedents) / len(anaphor.candidate_heads) for anaphor in coreferent]
    found["nearest_other"] = [is_right(anaphor, nearest_other(anaphor)) for anaphor in coreferent]
    baselines = {name: np.array(scores, dtype=float) for name, scores in found.items()}
    of_baselines = (
        _Row(name, "mentions", type_, "", _NOWHERE, np.where(chosen, scores, np.nan))
        for name, scores in baselines.items()
        for type_, chosen in by_type.items()
    )
    return [*_head_rows(right.astype(float), by_type, document % 2 == 1), *of_baselines], baselines, document


def guessed_mentions(
    documents: Sequence[AnnotatedDocument], guesses: AntecedentGuesses
) -> tuple[list[Anaphor], np.ndarray]:
    """Return the mentions whose antecedents were guessed, in the order of the guesses, and each one's document's index.

    Raises `InputError` if the guesses are not of the given documents.
    """
    coreferent = []
    for document, *ends in zip(guesses.document, guesses.start, guesses.stop, strict=True):
        unread = guesses.unread[guesses.unread[:, 0] == document, 1].tolist()
        coreferent += anaphors(references(documents[document], range(*map(int, ends)), unread))
    spans = [(anaphor.mention.start, anaphor.mention.end) for anaphor in coreferent]
    if spans != list(map(tuple, guesses.mention.tolist())):
        raise InputError("The guesses at antecedents are not of these documents; delete them and run again.")
    return coreferent, guesses.document[guesses.part]


def _head_rows(right: np.ndarray, by_type: dict[str, np.ndarray], is_odd: np.ndarray) -> Iterator[_Row]:
    flat = right.reshape(len(right), -1, len(CANDIDATES))
    heads = [divmod(number, right.shape[2]) for number in range(flat.shape[1])]
    for index, candidates in enumerate(CANDIDATES):
        hits = flat[..., index]
        for number, head in enumerate(heads):
            for type_, chosen in by_type.items():
                scores = np.where(chosen, hits[:, number], np.nan)
                yield _Row("head", candidates, type_, "", head, scores)
        for type_, chosen in by_type.items():
            choices = {"best_head": by_type[ALL]} | ({} if type_ == ALL else {"best_head_of_type": chosen})
            for system, choosing in choices.items():
                halves = [(choosing & one, chosen & ~one) for one in (is_odd, ~is_odd)]
                for name, folds in (("documents", [(choosing, chosen)]), ("halves", halves)):
                    yield _best(hits, heads, folds, (system, candidates, type_, name))


def _best(right: np.ndarray, heads: list[tuple], folds, names: tuple) -> _Row:
    # folds: (choosing, scored), [mention] bool each; scores are NaN without mentions to choose by.
    scores, best = np.full(len(right), np.nan), []
    for choosing, scored in folds:
        if choosing.any() and scored.any():
            number = int(right[choosing].mean(0).argmax())
            scores[scored] = right[scored, number]
            best.append(heads[number])
    return _Row(*names, best[0] if len(set(best)) == 1 else _NOWHERE, scores)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    guesses = read_arrays(inputs.antecedents, AntecedentGuesses)
    table, sums = measure_coreference(read_records(inputs.rows, AnnotatedDocument), guesses, **spec)
    write_csv(outputs.coreference, table)
    write_arrays(outputs.coreference_sums, sums, provenance)
