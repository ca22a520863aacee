"""Segments of documents as a language model reads them, with the tokens that it is to predict."""

from collections.abc import Sequence

import numpy as np
from transformers import PreTrainedTokenizerBase

from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed
from headtypes.data.answering.masking import mask_words
from headtypes.data.answering.predicted import PredictedTokens
from headtypes.data.kinds.text.documents import segments_of
from headtypes.data.kinds.text.kind import Text
from headtypes.data.records import Document, Sample
from headtypes.data.sentences import sentence_of, split_sentences
from headtypes.data.tokens import separates_texts, token_kinds
from headtypes.data.windows import Windows, without_space
from headtypes.models.language import language_head
from headtypes.models.records import ModelRecord

# Between two paragraphs that are read as running text; as in `encoding.encode_samples`.
_BETWEEN = "\n\n"


class TextExamples:
    """What a language model reads of documents and is to predict; implements `examples.Examples`."""

    target_names = ("labels",)

    def windows(
        self,
        rows: Sequence[Document],
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_length: int,
        max_seq_length: int,
        record: ModelRecord,
        seed: int,
    ) -> Windows:
        """One window for each segment, as `build_texts` makes them for this model."""
        causal = language_head(record) == "causal_lm"
        if not causal and tokenizer.mask_token_id is None:
            raise InputError(
                f"models.{record.name}: its tokenizer has no mask token, so no word can be hidden from it; evaluate "
                "another model on texts."
            )
        return build_texts(rows, tokenizer, max_length=min(max_length, max_seq_length), seed=None if causal else seed)

    def targets(self, rows: Sequence[Document], windows: Windows, record: ModelRecord) -> np.ndarray:
        """How many tokens of each window are to be predicted, -1 for none; `windows` has them: [window, 1] int64."""
        tokens = PredictedTokens(windows).tokens[:, None]
        return np.where(tokens > 0, tokens, -1)

    def learned(self, rows: Sequence[Document], windows: Windows) -> tuple[np.ndarray, None]:
        """Nothing: no model is trained on a text."""
        raise NotImplementedError("No model is fine-tuned on a text.")


def build_texts(
    documents: Sequence[Document], tokenizer: PreTrainedTokenizerBase, *, max_length: int, seed: int | None
) -> Windows:
    """Encode the segments of documents as `encoding.encode_samples` does, one window each, with their targets.

    tokenizer:  a fast one.
    max_length: tokens that longer segments are cut to.
    seed:       of the words that are hidden, by which and the segment's id each segment's are drawn
        (`masking.mask_words`); None for a causal model, whose targets are the next tokens.
    returns     windows whose `question` is the document; the sentences of both paragraphs are numbered from 0, and
        char_start and char_end are -1, since there is no context.
    Raises `InputError` where no document has a segment.
    """
    segments = [(place, segment) for place, document in enumerate(documents) for segment in segments_of(document)]
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
            wanted[masked.places] = masked.targets
        ids.append(tokens)
        types.append(encoded.get("token_type_ids"))
        targets.append(wanted)
    nowhere = np.full(sum(map(len, ids)), -1, np.int32)
    return Windows(
        input_ids=np.concatenate(ids).astype(np.int32),
        token_type_ids=None if types[0] is None else np.concatenate(types).astype(np.int8),
        sentence=np.concatenate(sentences).astype(np.int32),
        char_start=nowhere,
        char_end=nowhere,
        offsets=np.concatenate([[0], np.cumsum(list(map(len, ids)))]),
        question=np.array([place for place, _ in segments], np.int32),
        question_ids=[document.id for document in documents],
        targets=np.concatenate(targets).astype(np.int32),
    )


def _sentences(texts: list[str], segment: Sample, encoded) -> np.ndarray:
    """The sentence of each token of a segment, those of the second paragraph after those of the first; -1 for none."""
    first, second = split_sentences(segment.first), split_sentences(segment.second)
    if len(texts) == 1:
        boundaries, before = [np.concatenate([first, second + len(segment.first) + len(_BETWEEN)])], [0]
    else:
        boundaries, before = [first, second], [0, len(first)]
    found = np.full(len(encoded["input_ids"]), -1)
    # None, of special tokens, becomes NaN.
    part = np.array(encoded.sequence_ids(0), dtype=float)
    for number, text in enumerate(texts):
        of_text = part == number
        characters = np.array(encoded["offset_mapping"])[of_text].tolist()
        starts = np.array([without_space(text, *ends)[0] for ends in characters], int)
        found[of_text] = before[number] + sentence_of(starts, boundaries[number])
    return found
