"""Does the demo's model read? Exact match with the contexts' sentences shuffled among the passages.

    python benchmarks/shuffled_context.py [model] [task]

Run it in a working directory in which the demo has ended. Prints the exact match on the questions as they are and
with each context replaced by as many sentences drawn from all contexts.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

from headtypes.ablation.evaluation import Settings, evaluate_all, summary
from headtypes.base.files import read_json_lines
from headtypes.models.fetching import load_tokenizer
from headtypes.models.records import read_model_record
from headtypes.tasks.sentences import split_sentences
from headtypes.tasks.windows import build_windows


def shuffled(questions: list[dict], seed: int = 0) -> list[dict]:
    """The same questions, on contexts of as many sentences as before, drawn without replacement from all contexts."""
    contexts = list(dict.fromkeys(question["context"] for question in questions))
    sentences = [[text[slice(*span)].strip() for span in split_sentences(text)] for text in contexts]
    pool = [sentence for context in sentences for sentence in context]
    drawn = iter(np.random.default_rng(seed).permutation(len(pool)))
    new = {
        text: " ".join(pool[next(drawn)] for _ in context) for text, context in zip(contexts, sentences, strict=True)
    }
    return [{**question, "context": new[question["context"]]} for question in questions]


def main(model_name: str = "minilm-qa", task: str = "qa") -> None:
    """Print both figures."""
    record = read_model_record(f"results/sources/models/{model_name}.json")
    tokenizer, settings = load_tokenizer(record), Settings(precision="float32", batch_tokens=4096, max_answer_length=30)
    keep = np.full((record.layers, record.heads), "keep", dtype=object)
    questions = read_json_lines(f"results/questions/{task}.jsonl")
    for name, asked in (("as they are", questions), ("sentences shuffled among passages", shuffled(questions))):
        ((_, scores),) = evaluate_all(asked, build_windows(asked, tokenizer), record, [keep], None, settings, name)
        metrics = summary(scores)
        print(f"{name}: {metrics['exact_match']:.2f} % of {metrics['n_questions']} questions exact")


if __name__ == "__main__":
    main(*sys.argv[1:])
