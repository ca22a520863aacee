"""Documents of paragraphs, from files or from a dataset of the Hub, and the segments that they consist of."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from headtypes.core.errors import InputError
from headtypes.core.files import numbered_objects, read_json
from headtypes.core.texts import text_of
from headtypes.data.records import Sample, Strict


@dataclass(frozen=True, slots=True)
class Document(Strict):
    """A text of paragraphs, in their order."""

    id: str
    paragraphs: tuple[str, ...]


def read_documents(files: Sequence[str], where: str) -> list[Document]:
    """The documents in files of one form, in their order.

    files: all .json (SQuAD), .jsonl ({"id": ..., "paragraphs": [...]}) or .txt (an empty line ends a paragraph; a form
        feed or the end of the file a document); where: the file or the folder, for messages.
    Raises `InputError` with file and line for what cannot be read, or for files without a segment.
    """
    suffix = Path(files[0]).suffix.lower()
    if suffix not in _READERS:
        raise InputError(f"{files[0]}: a text must be one of {', '.join(_READERS)}; found {suffix or 'no suffix'}.")
    return _with_segments([document for file in files for document in _READERS[suffix](file)], where)


def documents_of_columns(rows: Iterable[Mapping[str, Any]], where: str) -> list[Document]:
    """The documents of rows with the title of an article and a paragraph of it, in `context`, which counts once."""
    return _with_segments(_by_title(rows, where), where)


def segments_of(document: Document) -> list[Sample]:
    """Paragraphs 2i and 2i + 1 of a document as samples (Clark et al. 2019, section 3), where both give tokens."""
    pairs = zip(document.paragraphs[::2], document.paragraphs[1::2], strict=False)
    return [
        Sample(f"{document.id}-{number}", *pair) for number, pair in enumerate(pairs) if all(map(_gives_tokens, pair))
    ]


def _gives_tokens(paragraph: str) -> bool:
    """Whether there is a letter, digit, mark of punctuation or symbol; tokenizers may drop all other characters."""
    # BERT also drops the replacement character, which Unicode counts among the symbols.
    return any(unicodedata.category(character)[0] in "LNPS" for character in paragraph.replace("\ufffd", ""))


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
    """The paragraphs between empty lines, with the lines of each joined by spaces."""
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
                raise InputError(f"{where}: the {key} of paragraph {number} is not text, but {shortened(row[key])}.")
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
