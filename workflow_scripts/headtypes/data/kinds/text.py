"""Text as a kind of task: rows are documents of paragraphs, samples are two paragraphs that follow each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headtypes.core.errors import InputError, shortened
from headtypes.core.files import derive_seed, numbered_objects, read_json, text_of
from headtypes.data.tasks import LANGUAGE_MODEL, SIZES, Kind, Sample, StrictRecord

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Encoding


@dataclass(frozen=True, slots=True)
class Document(StrictRecord):
    """A text, divided into paragraphs."""

    id: str
    paragraphs: tuple[str, ...]


class Text(Kind):
    """The kind of task whose rows are documents; language models predict words of them (Clark et al. 2019, 3)."""

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

    def rows_of_file(self, data, where, key, columns):
        suffix = Path(data[0]).suffix.lower()
        if suffix not in _READERS:
            raise InputError(f"{data[0]}: a text must be one of {', '.join(_READERS)}; found {suffix or 'no suffix'}.")
        return _with_segments([document for file in data for document in _READERS[suffix](file)], where)

    def rows_of_hub(self, data, where, key, columns):
        return _with_segments(_by_title(data, where), where)

    def draw_samples(self, rows, draw):
        segments = [segment for row in rows for segment in segments_of(row)]
        return [segments[index] for index in draw(len(segments))]

    def cut_windows(self, rows, tokenizer, record, *, max_seq_length, seed):
        import numpy as np

        from headtypes.data.encoding import encode_samples, mask_words
        from headtypes.data.windows import joined_windows

        causal = record.language_head == "causal_lm"
        if not causal and tokenizer.mask_token_id is None:
            raise InputError(
                f"models.{record.name}: its tokenizer has no mask token, so no word can be hidden from it; evaluate "
                "another model on texts."
            )
        segments = [(index, segment) for index, document in enumerate(rows) for segment in segments_of(document)]
        if not segments:
            raise InputError("None of the documents has two paragraphs of text, so that there is nothing to predict.")
        owners, samples = zip(*segments, strict=True)
        encoded = encode_samples(list(samples), tokenizer, self.name, min(record.max_length, max_seq_length))
        vocabulary = np.unique(list(tokenizer.get_vocab().values()))
        ids, targets = [], []
        for sample, of_sample, kinds in zip(samples, encoded.input_ids, encoded.kinds, strict=True):
            tokens = np.array(of_sample, np.int64)
            if causal:
                wanted = np.append(tokens[1:], -1)
            else:
                masked = mask_words(
                    tokens, kinds == 0, tokenizer.mask_token_id, vocabulary, derive_seed(seed, sample.id)
                )
                wanted, tokens = np.full(len(tokens), -1), masked.input_ids
                wanted[masked.indices] = masked.targets
            ids.append(tokens)
            targets.append(wanted)
        sentences = [_sentences(*both) for both in zip(samples, encoded.encodings, strict=True)]
        of_tokens = {"input_ids": ids, "token_type_ids": encoded.token_types, "sentence": sentences, "targets": targets}
        return joined_windows(rows, owners, **of_tokens)

    def answer_targets(self, rows, windows, record):
        import numpy as np

        tokens = windows.predicted_tokens[:, None]
        return np.where(tokens > 0, tokens, -1)

    def score_answers(self, rows, windows, record, values):
        import numpy as np
        import pandas as pd

        texts = len(windows.question_ids)
        loss, tokens = (np.bincount(windows.question, values[name], texts) for name in ("loss", "tokens"))
        scores = pd.DataFrame({"id": windows.question_ids, "loss": loss, SIZES: tokens.astype(np.int64)})
        scores = scores[scores[SIZES] > 0].reset_index(drop=True)
        if scores.empty:
            raise InputError("None of the documents has a token to predict; evaluate the model on more of them.")
        return {}, scores

    def mean_scores(self, scores):
        import numpy as np

        tokens = int(scores[SIZES].sum())
        loss = float(scores["loss"].sum() / tokens)
        return {"loss": loss, "perplexity": float(np.exp(loss)), "n_documents": len(scores), "n_tokens": tokens}


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
    # A form feed ends a document, an empty line a paragraph.
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
    """Return a document's segments: paragraphs 0 and 1, 2 and 3, and so on (Clark et al. 2019, section 3).

    A last paragraph without a partner is left out. So is a segment in which one of the two paragraphs has no letter,
    digit, punctuation or symbol, since tokenizers may drop that paragraph.
    """
    pairs = zip(document.paragraphs[::2], document.paragraphs[1::2], strict=False)
    return [
        Sample(f"{document.id}-{number}", *pair)
        for number, pair in enumerate(pairs)
        # BERT also drops the replacement character, which Unicode counts among the symbols.
        if all(any(unicodedata.category(letter)[0] in "LNPS" for letter in text.replace("\ufffd", "")) for text in pair)
    ]


def _sentences(segment: Sample, encoding: Encoding) -> np.ndarray:
    import numpy as np

    from headtypes.data.encoding import BETWEEN
    from headtypes.data.windows import sentence_of, split_sentences, token_spans

    first, second = split_sentences(segment.first), split_sentences(segment.second)
    # Without a token of a second text, both paragraphs were read as one.
    is_one = 1 not in encoding.sequence_ids
    texts = [f"{segment.first}{BETWEEN}{segment.second}"] if is_one else [segment.first, segment.second]
    part, spans = token_spans(encoding, *texts)
    second_start = len(segment.first) + len(BETWEEN)
    starts = spans[:, 0] + np.where(part == 1, second_start, 0)
    sentence = sentence_of(starts, np.concatenate([first, second + second_start]))
    sentence[part == 1] = np.maximum(sentence[part == 1], len(first))
    return np.where(part < 0, -1, sentence)
