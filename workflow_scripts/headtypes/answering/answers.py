"""What a model answers and how good that is, for each kind of task on which models can be evaluated."""

from pathlib import Path

import pandas as pd

from headtypes.answering.multiple_choice.answers import ChoiceAnswers
from headtypes.answering.protocol import Answers
from headtypes.answering.question_answering.answers import QuestionAnswers
from headtypes.answering.sentence_pair.answers import PairAnswers
from headtypes.answering.text.answers import TextAnswers
from headtypes.base.table_files import write_parquet
from headtypes.tasks.multiple_choice.kind import MultipleChoice
from headtypes.tasks.question_answering.kind import QuestionAnswering
from headtypes.tasks.sentence_pair.kind import SentencePair
from headtypes.tasks.text.kind import Text

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
