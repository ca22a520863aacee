"""Text as a kind of task: rows are documents of paragraphs, samples are two paragraphs that follow each other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headtypes.data.kinds.protocol import LANGUAGE_MODEL, Kind
from headtypes.data.kinds.text.documents import documents_of_columns, read_documents, segments_of
from headtypes.data.records import Document, Sample


class Text(Kind):
    """Documents of paragraphs (Clark et al. 2019, section 3), whose tokens a language model can predict."""

    name = "text"
    row = Document
    form = "files"
    worlds = ("text",)
    keys = ("samples", "questions", "max_seq_length")
    source_keys = ("folder",)
    truncation = "longest_first"
    running = True
    head = LANGUAGE_MODEL
    # There are no question and context, and in a causal layer padding would be a look at what is to be predicted.
    without_reading = ("sentences", "uniform_over_padding")

    def of_file(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list[Document]:
        """The documents of files: SQuAD's JSON, JSON Lines or plain text."""
        return read_documents(data, where)

    def of_hub(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list[Document]:
        """The documents of a dataset with a `title` and a `context` in each row, such as `rajpurkar/squad`."""
        return documents_of_columns(data, where)

    def of_world(self, data: Any, world: str, split: str) -> list[Document]:
        """The articles that the world makes, numbered within their split."""
        return [Document(f"{split}-{number:05d}", tuple(paragraphs)) for number, paragraphs in enumerate(data)]

    def samples(self, rows: Sequence[Document], draw: Callable[[int], Sequence[int]]) -> list[Sample]:
        """Segments: paragraphs 2i and 2i + 1 of a document."""
        segments = [segment for row in rows for segment in segments_of(row)]
        return [segments[place] for place in draw(len(segments))]
