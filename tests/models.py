"""Small random models of odd sizes, and a plain forward pass that shows all it computes."""

import copy

import numpy as np
import torch
from transformers import BertConfig, BertForQuestionAnswering, RobertaConfig, RobertaForQuestionAnswering

from headtypes.attention import ATTENTION
from tests.tiny import bert_tokenizer, roberta_tokenizer

WORDS = ["the", "a", "cat", "dog", "house", "river", "old", "young", "sat", "ran", "saw", "by", "under", "it", "was"]
QUESTIONS = [
    ("who sat by the river?", "The old cat, the young dog. It sat by the river, and ran."),
    ("where?", "A dog was in the house. The dog saw the river, the cat, and the old house. It ran. It sat."),
    ("who ran under the old house, by the river?", "It was the cat."),
]


def tiny_bert(layers: int = 3, heads: int = 5, head_size: int = 7, seed: int = 0):
    """A random BERT with a question-answering head, and its tokenizer."""
    tokenizer = bert_tokenizer(WORDS)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=heads * head_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=33,
        max_position_embeddings=64,
        initializer_range=0.2,
    )
    return BertForQuestionAnswering(config).eval(), tokenizer


def tiny_roberta(layers: int = 2, heads: int = 3, head_size: int = 6, seed: int = 1):
    """A random RoBERTa with a question-answering head, and its tokenizer."""
    tokenizer = roberta_tokenizer(WORDS)
    torch.manual_seed(seed)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=heads * head_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=21,
        max_position_embeddings=90,
        pad_token_id=tokenizer.pad_token_id,
        type_vocab_size=1,
        initializer_range=0.2,
    )
    return RobertaForQuestionAnswering(config).eval(), tokenizer


def opened(model):
    """A copy of a model whose attention goes through `headtypes.attention`."""
    model = copy.deepcopy(model)
    model.set_attn_implementation(ATTENTION)
    return model


def plain_attentions(model, ids: list[int], token_types: list[int] | None) -> np.ndarray:
    """Attention of one sample without padding, as Transformers gives it: [layer, head, query, key] float64."""
    model = copy.deepcopy(model).double()
    model.set_attn_implementation("eager")
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.int64)}
    if token_types is not None:
        inputs["token_type_ids"] = torch.tensor([token_types])
    with torch.inference_mode():
        output = model(**inputs, output_attentions=True)
    return torch.cat(output.attentions).numpy()
