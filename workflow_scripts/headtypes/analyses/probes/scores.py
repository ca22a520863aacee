"""Attachment scores of probes and of baselines, the best fixed guesses (Clark et al. 2019, Table 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from jaxtyping import Float64, Int64

from headtypes.analyses.relations.accuracy import OFFSETS, offset_guesses, sentence_of_word
from headtypes.analyses.relations.guesses import ArcGuesses
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, read_json, undamaged
from headtypes.core.hdf5_files import Stored, read_groups, write_arrays
from headtypes.core.statistics import mean_intervals
from headtypes.core.table_files import table_reader, write_csv
from headtypes.data.kinds.treebank import Sentence, counted_words
from headtypes.data.tasks import read_records

PROBES = ("attention", "attention_and_words", "distance_and_words", "random_network")


@dataclass(frozen=True)
class RightWords:
    """The number of words of each sentence whose syntactic head each probe and each baseline (system) finds.

    right: [sentence, system], for a probe the mean over random starts. words: [sentence] number, without punctuation.
    """

    system: Annotated[list[str], Stored(dimension="system")]
    right: Float64[np.ndarray, "sentence system"]
    words: Int64[np.ndarray, " sentence"]


def read_probes(path: StrPath) -> dict:
    probes = read_json(path)
    with undamaged(path, "holds no probes"):
        words = len(probes["words"])
        if any(len(counts_of_start) != words for name in PROBES for counts_of_start in probes["right"][name]):
            raise ValueError("its sentences are not those of all probes")
        return probes


# Of the table of `measure_probes`.
read_probe_scores = table_reader(
    "holds no scores of probes", dict.fromkeys(("system", "minus", "uas", "low", "high", "least", "most"))
)


def measure_probes(probes: dict, sentences: Sequence[Sentence], arcs: ArcGuesses) -> tuple[pd.DataFrame, RightWords]:
    """Return (table of attachment scores, right words in each sentence) of systems, which are probes and baselines.

    probes: the result of `measure.train_probes`. sentences: the evaluated part of the treebank. arcs: guesses of
        attention heads on them. Baselines: right-branching, and the offset and the head that are best on `sentences`.
    Punctuation does not count. Columns of the table of scores:
      system, minus: name of a system; the system whose score is subtracted, empty if none is.
      uas: unlabelled attachment score, or a difference of two, in percent. low, high: its interval over sentences.
      least, most: smallest and largest score among the random starts of a probe; NaN for a difference.
    """
    kept = [sentences[index] for index in arcs.sentence]
    words = np.array([sum(counted_words(sentence)) for sentence in kept])
    if words.tolist() != probes["words"]:
        raise InputError("The probes have not parsed the sentences that the heads have guessed at; delete both.")
    right = {name: np.array(probes["right"][name], dtype=float) for name in PROBES} | _baselines(kept, arcs)
    means = {name: right_words.mean(0) for name, right_words in right.items()}
    pairs = [(name, "") for name in means] + [(one, other) for one in means for other in means if one != other]
    sums = np.stack([means[one] - (means[other] if other else 0) for one, other in pairs], axis=1)
    low, high = np.empty((2, len(pairs)))
    for column, (_, other) in enumerate(pairs):
        low[column], high[column] = mean_intervals(sums[:, column], words, (-1 if other else 0, 1))
    starts = [100 * right[one].sum(1) / words.sum() if not other else [np.nan] for one, other in pairs]
    table = pd.DataFrame(pairs, columns=["system", "minus"]).assign(
        uas=100 * sums.sum(0) / words.sum(),
        low=100 * low,
        high=100 * high,
        least=[min(right_words) for right_words in starts],
        most=[max(right_words) for right_words in starts],
    )
    return table, RightWords([*means], np.stack([*means.values()], axis=1), words)


def _baselines(sentences: list[Sentence], arcs: ArcGuesses) -> dict[str, np.ndarray]:
    heads = np.array([head for sentence in sentences for head in sentence.heads])
    counted = np.concatenate([counted_words(sentence) for sentence in sentences])
    sentence = sentence_of_word(sentences)

    def right(guess: np.ndarray) -> np.ndarray:
        return np.bincount(sentence, (guess == heads) & counted, minlength=len(sentences))[None]

    tried = [right(guess) for guess in offset_guesses(sentences).T]
    best = (arcs.guess[counted] == heads[counted, None, None, None]).mean(0).argmax()
    best_head = right(arcs.guess.reshape(len(heads), -1)[:, best])
    return {"right_branching": tried[OFFSETS.index(1)], "best_offset": max(tried, key=np.sum), "best_head": best_head}


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    arcs = read_groups(inputs.arcs, ArcGuesses)["file"]
    table, right = measure_probes(read_probes(inputs.probes), read_records(inputs.rows, Sentence), arcs, **spec)
    write_csv(outputs.probe_scores, table)
    write_arrays(outputs.probe_sums, right, provenance)
