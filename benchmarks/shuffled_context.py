"""Does the demo's model read? Exact match with the contexts' sentences shuffled among the passages.

    python benchmarks/shuffled_context.py [model] [task]

Run it in a working directory in which the demo has ended. Prints the exact match on the questions as they are and
with each context replaced by as many sentences drawn from all contexts.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

from headtypes.analyses.ablation.evaluation import Settings, evaluate_all
from headtypes.data.kinds.question_answering.squad import Question
from headtypes.data.kinds.question_answering.windows import build_windows
from headtypes.data.kinds.registry import KINDS, read_rows
from headtypes.data.sentences import split_sentences
from headtypes.models.fetching import load_tokenizer
from headtypes.models.records import read_model_record


def shuffled(questions: list[Question], seed: int = 0) -> list[Question]:
    """The same questions, on contexts of as many sentences as before, drawn without replacement from all contexts."""
    contexts = list(dict.fromkeys(question.context for question in questions))
    sentences = [[text[slice(*span)].strip() for span in split_sentences(text)] for text in contexts]
    pool = [sentence for context in sentences for sentence in context]
    drawn = iter(np.random.default_rng(seed).permutation(len(pool)))
    new = {
        text: " ".join(pool[next(drawn)] for _ in context) for text, context in zip(contexts, sentences, strict=True)
    }
    return [replace(question, context=new[question.context]) for question in questions]


def main(model_name: str = "minilm-qa", task: str = "qa") -> None:
    """Print both figures."""
    record = read_model_record(f"results/sources/models/{model_name}.json")
    tokenizer = load_tokenizer(record)
    settings = Settings(kind="question_answering", precision="float32", batch_tokens=4096, max_answer_length=30)
    keep = np.full((record.layers, record.heads), "keep", dtype=object)
    questions = read_rows(f"results/questions/{task}.jsonl", settings.kind)
    for name, asked in (("as they are", questions), ("sentences shuffled among passages", shuffled(questions))):
        ((_, scores),) = evaluate_all(asked, build_windows(asked, tokenizer), record, [keep], None, settings, name)
        metrics = KINDS[settings.kind].mean_scores(scores)
        print(f"{name}: {metrics['exact_match']:.2f} % of {metrics['n_questions']} questions exact")


if __name__ == "__main__":
    main(*sys.argv[1:])
