"""A language model's answer to a question with choices: the one that it finds likeliest after the question."""

import numpy as np
import pandas as pd

from headtypes.data.answering.predicted_answers import PredictedAnswers


class ChoiceAnswers(PredictedAnswers):
    """A model's choices; `protocol.Answers` says what its methods do."""

    def score(self, values: tuple[np.ndarray, ...]) -> tuple[dict[str, str], pd.DataFrame]:
        """The texts that are chosen by their whole likelihood, and a row for each question.

        The likelihood of a choice is that of its tokens after the question: the sum of their logarithms, in nats; or,
        as `acc_norm` of the Language Model Evaluation Harness has it, that sum divided by the choice's number of
        characters. Of equal ones the first is chosen.

        values: of each choice of each question, in their order: its loss and tokens, [choice].
        returns id, answer, predicted and predicted_normalised (places of choices, from 0), correct and
            correct_normalised (0 or 100), and log_likelihood, of the right choice.
        """
        losses = np.split(values[0], np.cumsum([len(row.choices) for row in self._rows])[:-1])
        table = []
        for row, loss in zip(self._rows, losses, strict=True):
            predicted = int(np.argmin(loss))
            normalised = int(np.argmin(loss / np.array([len(choice) for choice in row.choices])))
            table.append(
                {
                    "id": row.id,
                    "answer": row.answer,
                    "predicted": predicted,
                    "predicted_normalised": normalised,
                    "correct": 100.0 * (predicted == row.answer),
                    "correct_normalised": 100.0 * (normalised == row.answer),
                    "log_likelihood": -float(loss[row.answer]),
                }
            )
        answers = {row.id: row.choices[scored["predicted"]] for row, scored in zip(self._rows, table, strict=True)}
        return answers, pd.DataFrame(table)

    @staticmethod
    def summary(scores: pd.DataFrame) -> dict[str, float | int]:
        """Accuracy by the whole likelihood, and by that of a character, in percent; and the number of questions."""
        return {
            "accuracy": float(scores["correct"].mean()),
            "accuracy_normalised": float(scores["correct_normalised"].mean()),
            "n_questions": len(scores),
        }
