"""Questions with choices as a language model reads them: each choice after the question, to be predicted."""

from collections.abc import Sequence

import numpy as np
from transformers import PreTrainedTokenizerBase

from headtypes.core.errors import InputError
from headtypes.data.answering.predicted import PredictedTokens
from headtypes.data.records import ChoiceQuestion
from headtypes.data.sentences import sentence_of, split_sentences
from headtypes.data.windows import Windows, without_space
from headtypes.models.records import ModelRecord


class ChoiceExamples:
    """What a language model reads of questions with choices; implements `examples.Examples`."""

    target_names = ("labels",)

    def windows(
        self,
        rows: Sequence[ChoiceQuestion],
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_length: int,
        max_seq_length: int,
    ) -> Windows:
        """One window for each choice, as `build_choices` makes them."""
        return build_choices(rows, tokenizer, max_length=min(max_length, max_seq_length))

    def targets(self, rows: Sequence[ChoiceQuestion], windows: Windows, record: ModelRecord) -> np.ndarray:
        """How many tokens the right choice has, which are to be predicted; -1 of another one: [window, 1] int64."""
        right = np.concatenate([np.arange(len(row.choices)) == row.answer for row in rows])
        return np.where(right, PredictedTokens(windows).tokens, -1)[:, None]

    def learned(self, rows: Sequence[ChoiceQuestion], windows: Windows) -> tuple[np.ndarray, None]:
        """Nothing: no model is trained on multiple choice."""
        raise NotImplementedError("No model is fine-tuned on multiple choice.")


def build_choices(
    questions: Sequence[ChoiceQuestion], tokenizer: PreTrainedTokenizerBase, *, max_length: int
) -> Windows:
    """Encode each question with each of its choices, a space between them, as one running text.

    tokenizer:  a fast one.
    max_length: tokens of the longest window; of a longer one, the question loses its first tokens.
    returns     windows by question, then by choice, whose targets are the tokens that reach into the choice; the
        sentences of the whole are numbered from 0, and char_start and char_end are -1, since there is no context.
    Raises `InputError` where there are no questions, or where a choice leaves no room for a token of its question.
    """
    if not questions:
        raise InputError("There are no questions to encode.")
    texts = [question.text(choice) for question in questions for choice in range(len(question.choices))]
    of_text = [place for place, question in enumerate(questions) for _ in question.choices]
    encoded = tokenizer(texts, truncation=False, padding=False, return_offsets_mapping=True, verbose=False)
    ids, sentences, targets = [], [], []
    for number, (place, text) in enumerate(zip(of_text, texts, strict=True)):
        question = questions[place]
        tokens = np.array(encoded["input_ids"][number])
        # None, of special tokens, becomes NaN.
        ordinary = np.array(encoded.sequence_ids(number), dtype=float) == 0
        characters = np.array(encoded["offset_mapping"][number])
        of_choice = ordinary & (characters[:, 1] > len(question.question))
        starts = np.array([without_space(text, *ends)[0] for ends in characters.tolist()])
        sentence = np.where(ordinary, sentence_of(starts, split_sentences(text)), -1)
        if not of_choice.any():
            raise InputError(f"question {question.id}: one of its choices has no tokens; leave it out of the data.")
        kept = _kept(ordinary & ~of_choice, max_length)
        if not (kept & ordinary & ~of_choice).any():
            raise InputError(
                f"question {question.id}: its choice {text[len(question.question) + 1 :][:40]!r} leaves no room for "
                f"the question in {max_length} tokens; leave it out of the data, or make windows.max_seq_length larger."
            )
        wanted = np.where(np.append(of_choice[1:], False), np.append(tokens[1:], -1), -1)
        ids.append(tokens[kept])
        sentences.append(sentence[kept])
        targets.append(wanted[kept])
    lengths = list(map(len, ids))
    nowhere = np.full(sum(lengths), -1, np.int32)
    has_types = "token_type_ids" in tokenizer.model_input_names
    return Windows(
        input_ids=np.concatenate(ids).astype(np.int32),
        token_type_ids=np.zeros(sum(lengths), np.int8) if has_types else None,
        sentence=np.concatenate(sentences).astype(np.int32),
        char_start=nowhere,
        char_end=nowhere,
        offsets=np.cumsum([0, *lengths], dtype=np.int64),
        question=np.array(of_text, np.int32),
        question_ids=[question.id for question in questions],
        targets=np.concatenate(targets).astype(np.int32),
    )


def _kept(of_question: np.ndarray, max_length: int) -> np.ndarray:
    """Which tokens fit, [token] bool: all but as many of the question's first as are too many."""
    kept = np.ones(len(of_question), bool)
    kept[np.flatnonzero(of_question)[: max(0, len(kept) - max_length)]] = False
    return kept
