"""Maps of the best heads on a few sentences, for Clark's Figure 5 alone; nothing is measured on them."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.coreference.accuracy import guessed_mentions, read_coreference
from headtypes.analyses.coreference.mentions import AntecedentGuesses
from headtypes.analyses.maps import readable
from headtypes.analyses.relations.accuracy import FILE, read_best_heads, sentence_of_word, stanford_pairs
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.analyses.words import WordMaps, encode_sentences, special_tokens
from headtypes.attention.one_pass import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import read_arrays, read_groups
from headtypes.core.style import save_figure
from headtypes.data.kinds.coreference import AnnotatedDocument
from headtypes.data.kinds.treebank import Sentence
from headtypes.data.tasks import read_records
from headtypes.models.records import ModelRecord, read_model_record
from headtypes.papers.clark2019.figures import (
    BestHead,
    SentenceMap,
    best_of_mentions,
    best_of_relations,
    sentences_figure,
)
from headtypes.papers.clark2019.published import our_relation

# Sentences of each phenomenon, and how many words they have.
SHOWN, SHORTEST, LONGEST = 2, 8, 16
# Words of the longest passage with a mention and its antecedent, where no shorter one has both.
LONGEST_PASSAGE = 30


class Chosen(NamedTuple):
    """A sentence, or a passage of a document, in which the best head for a relation or coreference is right.

    words: what the model reads. shown, marked: indices in `words` of words in the figure, and of its marked words.
    """

    best: BestHead
    words: Sequence[str]
    shown: range
    marked: list[int]


def choose_sentences(sentences: Sequence[Sentence], arcs: ArcGuesses, best: pd.DataFrame) -> list[Chosen]:
    kept = [sentences[index] for index in arcs.sentence]
    pairs, sentence = stanford_pairs(kept), sentence_of_word(kept)
    starts = np.cumsum(arcs.length) - arcs.length
    chosen = []
    for found in best_of_relations(best):
        _, name = our_relation(found.phenomenon)
        if name not in pairs:
            continue
        pair = pairs[name]
        right = pair.is_right(arcs.guess[:, found.layer, found.head, DIRECTIONS.index(found.direction)])
        of_pair = sentence[pair.words]
        count = np.bincount(of_pair, minlength=len(kept))
        fits = (count == np.bincount(of_pair, right, minlength=len(kept))) & (count > 0)
        fits &= (arcs.length >= SHORTEST) & (arcs.length <= LONGEST)
        for number in sorted(np.flatnonzero(fits), key=lambda index, count=count: -count[index])[:SHOWN]:
            marked = (pair.words[of_pair == number] - starts[number]).tolist()
            words = kept[number].words
            chosen.append(Chosen(found, words, range(len(words)), marked))
    return chosen


def choose_passages(
    documents: Sequence[AnnotatedDocument], guesses: AntecedentGuesses, accuracies: pd.DataFrame
) -> list[Chosen]:
    best = best_of_mentions(accuracies)
    found, _ = guessed_mentions(documents, guesses)
    links: dict[int, list[tuple[int, int]]] = {}
    for part, anaphor, guess in zip(guesses.part, found, guesses.guess[:, best.layer, best.head, 0], strict=True):
        if int(guess) in anaphor.antecedents:
            links.setdefault(int(part), []).append((anaphor.mention.head, int(guess)))
    passages = []
    for part, of_part in links.items():
        for passage in _passages(documents[guesses.document[part]], guesses.start[part], guesses.stop[part]):
            inside = [link for link in of_part if all(word in passage for word in link)]
            if inside:
                order = len(passage) > LONGEST, -len(inside), len(passage), part, passage.start
                passages.append((order, part, passage, sorted({word for word, _ in inside})))
    chosen, taken = [], []
    for _, part, passage, marked in sorted(passages):
        if len(chosen) < SHOWN and not any(part == one and set(passage) & set(other) for one, other in taken):
            taken.append((part, passage))
            words = documents[guesses.document[part]].words[guesses.start[part] : guesses.stop[part]]
            chosen.append(Chosen(best._replace(direction=DIRECTIONS[0]), words, passage, marked))
    return chosen


def map_sentences(chosen: Sequence[Chosen], record: ModelRecord, **settings) -> list[SentenceMap]:
    """Return the attention of each `Chosen`'s head on its sentence; settings: keyword arguments of `ModelOnTask`."""
    if not chosen:
        return []
    run = ModelOnTask(record, **settings)
    words = [sentence.words for sentence in chosen]
    encoded = encode_sentences(words, run.tokenizer, run.longest, run.what, whole=False)
    if len(encoded.kept) < len(chosen):
        raise InputError(
            f"{run.what}: the guesses are of sentences that the model cannot read; delete them and run again."
        )
    (maps,) = run.read(encoded.encoded, WordMaps(encoded.word_of_token))
    before, behind = (
        [readable(run.tokenizer, token) for token in tokens[:1]] for tokens in special_tokens(run.tokenizer)
    )
    shown = []
    for (best, read, part, marked), heads in zip(chosen, maps, strict=True):
        attention, first = heads[best.layer, best.head], len(before)
        indices = [*[0] * first, *(word + 1 for word in part), *[len(attention) - 1] * len(behind)]
        labels = [*before, *(read[word] for word in part), *behind]
        places = [word - part.start + first for word in marked]
        shown.append(SentenceMap(best, labels, places, attention[np.ix_(indices, indices)]))
    return shown


def _passages(document: AnnotatedDocument, start: int, stop: int) -> Iterator[range]:
    ends = np.cumsum([0, *(len(sentence.words) for sentence in document.sentences)]) - start
    inside = [int(end) for end in ends if 0 <= end <= stop - start]
    for index, first in enumerate(inside):
        yield from (range(first, end) for end in inside[index + 1 :] if SHORTEST <= end - first <= LONGEST_PASSAGE)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    if spec.pop("kind") == "treebank":
        arcs = read_groups(inputs.guesses, ArcGuesses)[FILE]
        chosen = choose_sentences(read_records(inputs.rows, Sentence), arcs, read_best_heads(inputs.best))
    else:
        documents = read_records(inputs.rows, AnnotatedDocument)
        guesses = read_arrays(inputs.guesses, AntecedentGuesses)
        chosen = choose_passages(documents, guesses, read_coreference(inputs.best))
    maps = map_sentences(chosen, read_model_record(inputs.model), **spec)
    save_figure(sentences_figure(maps), outputs.pdf, outputs.png, provenance)
