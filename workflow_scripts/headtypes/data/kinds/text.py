"""Text as a kind of task: rows are documents of paragraphs, samples are two paragraphs that follow each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headtypes.core.errors import InputError, shortened
from headtypes.core.files import numbered_objects, read_json, text_of
from headtypes.data.tasks import LANGUAGE_MODEL, MEASURES, SIZES, Kind, Sample, StrictRecord

if TYPE_CHECKING:
    import numpy as np
    from transformers import PreTrainedTokenizerBase

    from headtypes.data.windows import Windows

# Between two paragraphs that are read as running text; as in `encoding.encode_samples`.
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Document(StrictRecord):
    """A text of paragraphs, in their order."""

    id: str
    paragraphs: tuple[str, ...]


class Text(Kind):
    """Documents of paragraphs (Clark et al. 2019, section 3), whose tokens a language model can predict."""

    name = "text"
    row = Document
    title = "text"
    form = "files"
    formats = "plain text, JSONL or SQuAD v1.1 JSON"
    keys = ("samples", "divided_by", "questions", "max_seq_length")
    source_keys = ("folder",)
    running = True
    head = LANGUAGE_MODEL
    # There are no question and context, and in a causal layer padding would be a look at what is to be predicted.
    without_reading = ("sentences", "uniform_over_padding")
    metrics, counted = MEASURES["text"]

    def rows_of_file(self, data, where, key, columns):
        """Read the documents in files of one form, in their order.

        They are .json (SQuAD), .jsonl ({"id": ..., "paragraphs": [...]}) or .txt (an empty line ends a paragraph; a
        form feed or the end of the file a document).
        """
        suffix = Path(data[0]).suffix.lower()
        if suffix not in _READERS:
            raise InputError(f"{data[0]}: a text must be one of {', '.join(_READERS)}; found {suffix or 'no suffix'}.")
        return _with_segments([document for file in data for document in _READERS[suffix](file)], where)

    def rows_of_hub(self, data, where, key, columns):
        """Return the documents of a dataset with a `title` and a `context` in each row, such as `rajpurkar/squad`."""
        return _with_segments(_by_title(data, where), where)

    def draw_samples(self, rows, draw):
        """Return segments: paragraphs 2i and 2i + 1 of a document."""
        segments = [segment for row in rows for segment in segments_of(row)]
        return [segments[index] for index in draw(len(segments))]

    def cut_windows(self, rows, tokenizer, record, *, max_seq_length, seed):
        """Encode each segment as one window, as `build_texts` makes them for this model."""
        from headtypes.models.model_config import language_head

        causal = language_head(record) == "causal_lm"
        if not causal and tokenizer.mask_token_id is None:
            raise InputError(
                f"models.{record.name}: its tokenizer has no mask token, so no word can be hidden from it; evaluate "
                "another model on texts."
            )
        max_length = min(record.max_length, max_seq_length)
        return build_texts(rows, tokenizer, max_length=max_length, seed=None if causal else seed)

    def answer_targets(self, rows, windows, record):
        """Return the number of tokens of each window that are to be predicted, -1 for none: [window, 1] int64."""
        import numpy as np

        tokens = windows.predicted_tokens[:, None]
        return np.where(tokens > 0, tokens, -1)

    def score_answers(self, rows, windows, record, values):
        """Return no answers, and a row for each text that has tokens to predict: id, loss and tokens, summed over
        it.
        """
        import numpy as np
        import pandas as pd

        texts = len(windows.question_ids)
        loss, tokens = (np.bincount(windows.question, value, texts) for value in values)
        scores = pd.DataFrame({"id": windows.question_ids, "loss": loss, SIZES: tokens.astype(np.int64)})
        scores = scores[scores[SIZES] > 0].reset_index(drop=True)
        if scores.empty:
            raise InputError(f"None of the {self.counted} has a token to predict; evaluate the model on more of them.")
        return {}, scores

    def mean_scores(self, scores):
        """Return the mean loss of a token in nats, the perplexity, and the number of texts and of tokens."""
        import numpy as np

        tokens = int(scores[SIZES].sum())
        loss = float(scores["loss"].sum() / tokens)
        return {"loss": loss, "perplexity": float(np.exp(loss)), f"n_{self.counted}": len(scores), "n_tokens": tokens}


def _read_squad(file: str) -> list[Document]:
    data = read_json(file)
    try:
        rows = [
            {"title": article["title"], "context": paragraph["context"]}
            for article in data["data"]
            for paragraph in article["paragraphs"]
        ]
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{file} is not in the layout of SQuAD v1.1 ({type(error).__name__}: {error}). Its 'data' must be articles "
            "with 'title' and 'paragraphs', each of these with 'context'."
        ) from error
    return _by_title(rows, file)


def _read_json_lines(file: str) -> Iterator[Document]:
    for number, row in numbered_objects(file):
        name, paragraphs = row.get("id"), row.get("paragraphs")
        are_texts = isinstance(paragraphs, list) and paragraphs and all(isinstance(part, str) for part in paragraphs)
        # True would count as 1.
        if type(name) not in (str, int) or name == "" or not are_texts:
            raise InputError(
                f"{file}, line {number} is no document, which has text or a whole number as its id and a list of "
                'texts as its paragraphs: {"id": ..., "paragraphs": [...]}.'
            )
        yield Document(str(name), tuple(paragraphs))


def _read_plain(file: str) -> list[Document]:
    documents = [paragraphs for part in text_of(file).split("\f") if (paragraphs := _paragraphs(part))]
    if not documents:
        raise InputError(f"{file} has no text; give one that has some, or delete it.")
    return [Document(f"{Path(file).stem}-{number}", paragraphs) for number, paragraphs in enumerate(documents)]


def _paragraphs(text: str) -> tuple[str, ...]:
    lines = map(str.strip, text.split("\n"))
    return tuple(" ".join(paragraph) for has_text, paragraph in groupby(lines, key=bool) if has_text)


_READERS = {".json": _read_squad, ".jsonl": _read_json_lines, ".txt": _read_plain}


def _by_title(rows: Iterable[Mapping[str, Any]], where: str) -> list[Document]:
    contexts: dict[str, dict[str, None]] = {}
    for number, row in enumerate(rows, start=1):
        for key in ("title", "context"):
            if key not in row:
                raise InputError(f"{where} has no column {key}; documents are made of the columns title and context.")
            if not isinstance(row[key], str):
                raise InputError(
                    f"{where}: the {key} of paragraph {number} is not text, but {shortened(repr(row[key]))}."
                )
        if not row["title"].strip():
            raise InputError(f"{where}: paragraph {number} has no title, which says which document it belongs to.")
        contexts.setdefault(row["title"], {})[row["context"]] = None
    return [Document(title, tuple(paragraphs)) for title, paragraphs in contexts.items()]


def _with_segments(documents: list[Document], where: str) -> list[Document]:
    if not any(map(segments_of, documents)):
        raise InputError(
            f"{where} gives no segment, which takes a document with two paragraphs of text; in plain text, an empty "
            "line ends a paragraph."
        )
    return documents


def segments_of(document: Document) -> list[Sample]:
    """Return paragraphs 2i and 2i + 1 of a document as samples (Clark et al. 2019, section 3), where both give
    tokens.
    """
    pairs = zip(document.paragraphs[::2], document.paragraphs[1::2], strict=False)
    return [
        Sample(f"{document.id}-{number}", *pair) for number, pair in enumerate(pairs) if all(map(_gives_tokens, pair))
    ]


def _gives_tokens(paragraph: str) -> bool:
    """Tell whether there is a letter, digit, mark of punctuation or symbol; tokenizers may drop all other
    characters.
    """
    # BERT also drops the replacement character, which Unicode counts among the symbols.
    return any(unicodedata.category(character)[0] in "LNPS" for character in paragraph.replace("\ufffd", ""))


def build_texts(
    documents: Sequence[Document], tokenizer: PreTrainedTokenizerBase, *, max_length: int, seed: int | None
) -> Windows:
    """Encode the segments of documents as `encoding.encode_samples` does, one window each, with their targets.

    seed:    for the words that are hidden, drawn by it and the segment's id (`encoding.mask_words`); None for a causal
        model, whose targets are the next tokens.
    Returns windows whose `question` is the document; the sentences of both paragraphs are numbered from 0, and
    char_start and char_end are -1. Raises `InputError` where no document has a segment.
    """
    import numpy as np

    from headtypes.core.seeds import derive_seed
    from headtypes.data.encoding import mask_words, separates_texts, token_kinds
    from headtypes.data.windows import joined_windows

    segments = [(index, segment) for index, document in enumerate(documents) for segment in segments_of(document)]
    if not segments:
        raise InputError("None of the documents has two paragraphs of text, so that there is nothing to predict.")
    joined, kind_of = not separates_texts(tokenizer), token_kinds(tokenizer)
    vocabulary = np.unique(list(tokenizer.get_vocab().values()))
    ids, types, sentences, targets = [], [], [], []
    for _, segment in segments:
        texts = [_BETWEEN.join((segment.first, segment.second))] if joined else [segment.first, segment.second]
        encoded = tokenizer(
            *texts, truncation=Text.truncation, max_length=max_length, padding=False, return_offsets_mapping=True
        )
        tokens = np.array(encoded["input_ids"], np.int64)
        sentences.append(_sentences(texts, segment, encoded))
        if seed is None:
            wanted = np.append(tokens[1:], -1)
        else:
            masked = mask_words(
                tokens, kind_of[tokens] == 0, tokenizer.mask_token_id, vocabulary, derive_seed(seed, segment.id)
            )
            wanted, tokens = np.full(len(tokens), -1), masked.input_ids
            wanted[masked.indices] = masked.targets
        ids.append(tokens)
        types.append(encoded.get("token_type_ids"))
        targets.append(wanted)
    types, owners = None if types[0] is None else types, [index for index, _ in segments]
    return joined_windows(documents, owners, ids, types, sentences, targets=targets)


def _sentences(texts: list[str], segment: Sample, encoded) -> np.ndarray:
    """Number the sentence of each token of a segment, the second paragraph's after the first's; -1 for no sentence."""
    import numpy as np

    from headtypes.data.windows import sentence_of, split_sentences, without_space

    first, second = split_sentences(segment.first), split_sentences(segment.second)
    if len(texts) == 1:
        boundaries, before = [np.concatenate([first, second + len(segment.first) + len(_BETWEEN)])], [0]
    else:
        boundaries, before = [first, second], [0, len(first)]
    sentence = np.full(len(encoded["input_ids"]), -1)
    # None, of special tokens, becomes NaN.
    part = np.array(encoded.sequence_ids(0), dtype=float)
    for number, text in enumerate(texts):
        in_text = part == number
        characters = np.array(encoded["offset_mapping"])[in_text].tolist()
        starts = np.array([without_space(text, *ends)[0] for ends in characters], int)
        sentence[in_text] = before[number] + sentence_of(starts, boundaries[number])
    return sentence
