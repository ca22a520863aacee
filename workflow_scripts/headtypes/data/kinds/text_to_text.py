"""Texts with a target, such as a translation or a summary, as a kind of task; rows come from a table's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from headtypes.data.kinds.protocol import ID, Column, Columns, Draw
from headtypes.data.kinds.tables import TableKind, checked_table, read_ids, read_texts
from headtypes.data.kinds.token_loss import TokenLoss
from headtypes.data.records import Sample, Strict

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from headtypes.data.windows import Windows
    from headtypes.models.records import ModelRecord


@dataclass(frozen=True, slots=True)
class TextWithTarget(Strict):
    """A text that an encoder reads, and the text that a decoder is to write."""

    id: str
    text: str
    target: str


class TextToText(TableKind, TokenLoss):
    """Texts with targets, whose tokens an encoder with a decoder predicts."""

    name = "text_to_text"
    row = TextWithTarget
    title = "texts with targets"
    formats = "TSV, CSV, JSONL or Parquet"
    keys = ("columns", "samples", "divided_by", "questions")
    columns: ClassVar = {
        "text": Column("source", "Column of the text that the encoder reads, with the prefix that the model expects."),
        "target": Column("target", "Column of the text that the decoder reads, each token of which it predicts."),
        "id": ID,
    }
    head = "seq2seq_lm"
    has_target = True
    counted = "pairs"

    def rows_of_file(self, data: Any, where: str, key: str, columns: Columns) -> list[TextWithTarget]:
        """The texts of a table (a pandas.DataFrame); columns: those of text, target and, if there is one, of id."""
        table = checked_table(data, where, key, columns.values())
        texts = read_texts(table, where, [columns["text"], columns["target"]])
        return list(map(TextWithTarget, read_ids(table, where, key, columns.get("id")), *texts))

    def draw_samples(self, rows: Sequence[TextWithTarget], draw: Draw) -> list[Sample]:
        """Texts with their targets."""
        return [Sample(rows[index].id, rows[index].text, rows[index].target) for index in draw(len(rows))]

    def cut_windows(
        self,
        rows: Sequence[TextWithTarget],
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_length: int,
        max_seq_length: int,
        record: ModelRecord,
        seed: int | None = None,
    ) -> Windows:
        """One window each: what the decoder reads, the tokens that it predicts there, and the source."""
        import numpy as np

        from headtypes.data.targets import decoder_inputs, read_text
        from headtypes.data.windows import windows_without_context

        longest = min(max_length, max_seq_length)
        sources = [read_text(tokenizer, row.text, longest) for row in rows]
        targets = [read_text(tokenizer, row.target, longest, target=True) for row in rows]
        windows = windows_without_context(
            [decoder_inputs(target.ids, record) for target in targets],
            None,
            # What stands first belongs to no sentence.
            [np.append(-1, target.sentences[:-1]) for target in targets],
            [target.ids for target in targets],
            range(len(rows)),
            [row.id for row in rows],
        )
        return replace(
            windows,
            source_ids=np.concatenate([source.ids for source in sources]).astype(np.int32),
            source_sentence=np.concatenate([source.sentences for source in sources]).astype(np.int32),
            source_offsets=np.cumsum([0, *(len(source.ids) for source in sources)], dtype=np.int64),
        )
