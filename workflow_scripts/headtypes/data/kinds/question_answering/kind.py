"""Question answering as a kind of task: rows are questions of SQuAD v1.1, samples are question and context."""

from headtypes.data.kinds.metrics import MEASURES
from headtypes.data.kinds.protocol import Kind
from headtypes.data.kinds.question_answering.squad import Question, questions_from_rows, questions_of
from headtypes.data.records import Sample


class QuestionAnswering(Kind):
    """Questions about contexts, answered by a span of the context."""

    name = "question_answering"
    row = Question
    title = "question answering"
    form = "json"
    formats = "SQuAD v1.1 JSON, or its rows as JSON Lines"
    keys = ("samples", "divided_by", "questions")
    source_keys = ("training_file",)
    truncation = "only_second"
    head = "question_answering"
    window_keys = ("doc_stride", "max_query_length")
    answer_keys = ("max_answer_length",)
    metrics, counted = MEASURES["question_answering"]
    target_names = ("start_positions", "end_positions")
    answer_columns = ("score", "start", "end")

    def rows_of_file(self, data, where, key, columns):
        """The questions of SQuAD's JSON."""
        return questions_of(data, where)

    def rows_of_hub(self, data, where, key, columns):
        """The questions of a dataset with the columns of `rajpurkar/squad`."""
        return questions_from_rows(data, where)

    def draw_samples(self, rows, draw):
        """Questions, each with its context."""
        return [Sample(rows[index].id, rows[index].question, rows[index].context) for index in draw(len(rows))]

    def cut_windows(self, rows, tokenizer, **shape):
        """Sliding windows, as `windows.build_windows` cuts them."""
        from headtypes.data.kinds.question_answering.windows import build_windows

        return build_windows(rows, tokenizer, **shape)

    def answer_targets(self, rows, windows, record):
        """First and last token of the first answer in every window, as `windows.answer_positions` finds them."""
        from headtypes.data.kinds.question_answering.windows import answer_positions

        return answer_positions(rows, windows)

    def training_targets(self, rows, windows):
        """The same, but the first token (`[CLS]`) where a window lacks the answer, as in run_squad; and no labels."""
        from headtypes.data.kinds.question_answering.windows import answer_positions

        return answer_positions(rows, windows).clip(0), None

    def answer_logits(self, output, mask):
        """Those of the first and of the last token; padding cannot be an answer."""
        import torch

        logits = torch.stack([output.start_logits, output.end_logits], dim=2)
        return logits.masked_fill(mask[:, :, None] == 0, -torch.inf)

    def read_answers(self, output, sentences, *, max_answer_length):
        """The best span of each window, as `answers.best_spans` finds it."""
        import numpy as np

        from headtypes.data.kinds.question_answering.answers import best_spans

        context = np.zeros(output.start_logits.shape, dtype=bool)
        for row, sentence in enumerate(sentences):
            context[row, : len(sentence)] = sentence > 0
        start, end = (logits.float().cpu().numpy() for logits in (output.start_logits, output.end_logits))
        return best_spans(start, end, context, max_answer_length)

    def score_answers(self, rows, windows, record, values):
        """The answers, and the scores of `answers.score_predictions`, from the spans of all windows."""
        from headtypes.data.kinds.question_answering.answers import Spans, answer_questions, score_predictions

        answers = answer_questions(rows, windows, Spans(*values))
        return answers, score_predictions(rows, answers)
