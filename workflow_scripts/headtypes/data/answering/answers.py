"""What a model answers and how good that is, for each kind of task on which models can be evaluated."""

from pathlib import Path

import pandas as pd

from headtypes.core.table_files import write_parquet
from headtypes.data.answering.protocol import Answers
from headtypes.data.kinds.multiple_choice.answers import ChoiceAnswers
from headtypes.data.kinds.multiple_choice.kind import MultipleChoice
from headtypes.data.kinds.question_answering.answers import QuestionAnswers
from headtypes.data.kinds.question_answering.kind import QuestionAnswering
from headtypes.data.kinds.sentence_pair.answers import PairAnswers
from headtypes.data.kinds.sentence_pair.kind import SentencePair
from headtypes.data.kinds.text.answers import TextAnswers
from headtypes.data.kinds.text.kind import Text

ANSWERS: dict[str, type[Answers]] = {
    QuestionAnswering.name: QuestionAnswers,
    SentencePair.name: PairAnswers,
    MultipleChoice.name: ChoiceAnswers,
    Text.name: TextAnswers,
}


def write_scores(path: str | Path, scores: pd.DataFrame, provenance: dict) -> None:
    """Write a table of scores with its provenance as a Parquet file with checksums."""
    scores.attrs["provenance"] = provenance
    write_parquet(path, scores)
