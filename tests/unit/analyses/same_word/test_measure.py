"""Attention to the same word equals a dense computation, word by word, with pairs and with running text."""

import re
from collections import Counter

import numpy as np
import pytest
import torch

from headtypes.analyses.same_word.measure import measure_same_word
from headtypes.attention.one_pass import ModelOnTask
from headtypes.data.tasks import Sample
from tests.support.models import tiny_bert, tiny_language_model
from tests.support.reading import measured
from tests.support.records import recorded

PAIRS = [
    Sample("a", "who sat by the river?", "The old cat, the young dog. It sat by the river and the cat ran."),
    Sample("b", "was it old", "It was the house. The house was under it."),
    Sample("c", "dog", "river"),
]


def dense(model, tokenizer, sample: Sample, causal: bool, frequent: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """[layer, head, place] what words give, and [place] what chance does, by a loop over words."""
    texts = [text for text in (sample.first, sample.second) if text is not None]
    encoding = tokenizer(*texts, return_offsets_mapping=True)
    words = {}
    for token, (text, span) in enumerate(zip(encoding.sequence_ids(), encoding["offset_mapping"], strict=True)):
        for match in re.finditer(r"\w+", texts[text]) if text is not None else ():
            if match.start() < span[1] and span[0] < match.end() and match[0].lower() not in frequent:
                words.setdefault((match[0].lower(), text, match.start()), []).append(token)
                break
    inputs = {"input_ids": torch.tensor([encoding["input_ids"]])}
    if "token_type_ids" in encoding:
        inputs["token_type_ids"] = torch.tensor([encoding["token_type_ids"]])
    with torch.inference_mode():
        attention = torch.stack(model(**inputs, output_attentions=True).attentions)[:, 0].double().numpy()
    given, chance = [[], []], [[], []]
    for (word, text, start), tokens in words.items():
        for place in (0, 1):
            others = [
                key
                for (other, of, begins), keys in words.items()
                if other == word and ((of != text) if place == 0 else (of == text and begins != start))
                for key in keys
            ]
            visible = [[key for key in others if not causal or key <= token] for token in tokens]
            if any(visible):
                of_tokens = list(zip(tokens, visible, strict=True))
                given[place].append(np.mean([attention[:, :, token, keys].sum(-1) for token, keys in of_tokens], 0))
                length = attention.shape[-1]
                even = [len(keys) / (token + 1 if causal else length) for token, keys in of_tokens]
                chance[place].append(np.mean(even))
    none = np.full(attention.shape[:2], np.nan)
    means = [np.mean(of_place, 0) if of_place else none for of_place in given]
    return np.stack(means, -1), np.array([np.mean(of_place) if of_place else np.nan for of_place in chance])


@pytest.mark.parametrize("kind", ["question_answering", "text"])
def test_shares_and_chance_equal_a_loop_over_words(kind, tmp_path):
    model, tokenizer = tiny_bert() if kind == "question_answering" else tiny_language_model("gpt2")
    samples = PAIRS if kind == "question_answering" else [Sample(it.id, it.second, None) for it in PAIRS]
    record = recorded(model, tokenizer, tmp_path / "model")
    run = ModelOnTask(record, task="t", precision="float32", batch_tokens=64)
    found = measured(measure_same_word, run, samples, kind=kind)
    model = model.eval()
    model.set_attn_implementation("eager")
    for index, sample in enumerate(samples):
        expected, chance = dense(model, tokenizer, sample, kind == "text", found.frequent)
        np.testing.assert_allclose(found.shares[index], expected, atol=1e-6)
        np.testing.assert_allclose(found.chance[index], chance, atol=1e-6)
    # The most frequent words, until they are half of all.
    counts = Counter(word for it in samples for word in re.findall(r"\w+", f"{it.first} {it.second or ''}".lower()))
    assert found.frequent == [word for word, _ in counts.most_common(len(found.frequent))]
    *all_but_last, last = (counts[word] for word in found.frequent)
    assert sum(all_but_last) < counts.total() / 2 <= sum(all_but_last) + last
