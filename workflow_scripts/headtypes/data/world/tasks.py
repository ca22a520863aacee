"""The tasks that follow from the generated world, in the formats of the public ones."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import numpy as np

from headtypes.data.world.annotation import make_coreference, make_treebank
from headtypes.data.world.entities import split_number
from headtypes.data.world.grammar import capital
from headtypes.data.world.pairs import Pair, entailment, paraphrase
from headtypes.data.world.passages import Article, Passage, articles
from headtypes.data.world.questions import Question, questions_about

PAIRS_PER_PASSAGE = 2
# How a pair of each task is drawn, and how many labels there are.
_PAIRS: dict[str, tuple[Callable, int]] = {"paraphrase": (paraphrase, 2), "entailment": (entailment, 3)}


def _generator(seed: int, split: str, task: str) -> np.random.Generator:
    """A task's own random numbers: what one task draws changes neither another task nor the world."""
    return np.random.default_rng([seed, split_number(split), list(DATA_SETS).index(task)])


def asked_passages(seed: int, split: str, size: int) -> Iterator[tuple[Article, list[tuple[Passage, list[Question]]]]]:
    """Yield articles with the questions on each of their passages, `size` questions in all."""
    rng = _generator(seed, split, "question_answering")
    left = size
    for article in articles(seed, split):
        if left <= 0:
            return
        asked = []
        for passage in article.passages:
            questions = questions_about(rng, passage)[:left]
            left -= len(questions)
            if questions:
                asked.append((passage, questions))
        if asked:
            yield article, asked


def make_question_answering(seed: int, split: str, size: int) -> dict:
    """Make `size` questions in the format of SQuAD v1.1: articles, paragraphs, questions, answers with answer_start.

    seed: of the world; equal seeds give equal data. split: train or dev, which share no article and no proper
    name. Raises `InputError` for a split that does not exist, and for a size for which the world has too few names.
    """
    data = []
    for article, asked in asked_passages(seed, split, size):
        paragraphs = []
        for number, (passage, questions) in enumerate(asked):
            answered = [
                {
                    "id": f"{split}-{article.number:05d}-{number}-{at}",
                    "question": question.text,
                    "answers": [{"text": question.answer, "answer_start": question.start}],
                }
                for at, question in enumerate(questions)
            ]
            paragraphs.append({"context": passage.text, "qas": answered})
        data.append({"title": capital(article.topic.name).replace(" ", "_"), "paragraphs": paragraphs})
    return {"version": "1.1", "data": data}


def pairs(seed: int, split: str, size: int, task: str) -> list[Pair]:
    """Make `size` pairs of a task, with equal shares of the labels in random order.

    task: paraphrase (labels as MRPC's: 1 the same, 0 not) or entailment (as MNLI's: 0 entailment, 1 neutral, 2
    contradiction). seed, split and errors as in `make_question_answering`.
    """
    draw, n_labels = _PAIRS[task]
    rng = _generator(seed, split, task)
    labels = rng.permutation(np.arange(size) % n_labels).tolist()
    drawn: list[Pair] = []
    for article in articles(seed, split):
        for passage in article.passages:
            for _ in range(PAIRS_PER_PASSAGE):
                if len(drawn) == size:
                    return drawn
                pair = draw(rng, article, passage, labels[len(drawn)])
                if pair is not None:
                    drawn.append(pair)
    raise AssertionError("articles never end")


def make_text(seed: int, split: str, size: int) -> list[list[str]]:
    """Make `size` documents, each the passages of an article.

    seed, split and errors as in `make_question_answering`.
    """
    told = (article for article in articles(seed, split) if article.passages)
    return [[passage.text for passage in article.passages] for article in islice(told, size)]


# The data sets of the world, each with its maker. A place here is part of a seed: a further one goes to the end.
DATA_SETS: dict[str, Callable] = {
    "question_answering": make_question_answering,
    "paraphrase": partial(pairs, task="paraphrase"),
    "entailment": partial(pairs, task="entailment"),
    "text": make_text,
    "treebank": make_treebank,
    "coreference": make_coreference,
}


def make(world: str, seed: int, split: str, size: int) -> dict | list:
    """Make one of `DATA_SETS`; seed, split and errors as in `make_question_answering`."""
    return DATA_SETS[world](seed, split, size)
