"""A decoder that says behind an object what its verb asks for: one head finds verbs, and is used for it or not."""

from typing import Literal

import numpy as np
import torch
from transformers import GPT2Config, GPT2ForQuestionAnswering, GPT2LMHeadModel

from headtypes.data.kinds.question_answering.squad import Question
from headtypes.data.kinds.treebank import Sentence
from tests.support.tiny import gpt2_tokenizer

VERBS = ("took", "gave", "put", "got")
# What follows the object of each verb.
PARTICLES = ("away", "back", "down", "out")
SUBJECTS, OBJECTS, ADJECTIVES = ("cat", "dog"), ("house", "river"), ("old", "young")
_KINDS = {"subject": SUBJECTS, "verb": VERBS, "object": OBJECTS, "adjective": ADJECTIVES, "particle": PARTICLES}
_WORDS = {word: kind for kind, words in _KINDS.items() for word in words}
# Channels of the residual stream: kinds, verbs, what is to follow; behind them each once more, with a minus, so that
# their mean is zero. Nothing reads the last of each half.
_VERB, _NEXT = len(_KINDS), len(_KINDS) + len(VERBS)
_UNREAD = _NEXT + len(PARTICLES)
_HALF = _UNREAD + 1
HEADS, FINDER = 4, 2


def sentences(number: int, seed: int = 0) -> list[Sentence]:
    """Sentences such as `dog took old river away`, of which the verb stands one to three words before the object."""
    rng, made = np.random.default_rng(seed), []
    for index in range(number):
        verb, adjectives = rng.integers(len(VERBS)), list(rng.choice(ADJECTIVES, rng.integers(3)))
        words = (rng.choice(SUBJECTS), VERBS[verb], *adjectives, rng.choice(OBJECTS), PARTICLES[verb])
        count = len(words)
        heads = (2, 0, *[count - 1] * len(adjectives), 2, 2)
        relations = ("nsubj", "root", *["amod"] * len(adjectives), "obj", "compound:prt")
        blank = ("",) * count
        made.append(Sentence(str(index), tuple(map(str, words)), heads, relations, blank, blank, blank))
    return made


def planted_decoder(written: Literal["read", "unread", "nothing"]):
    """A GPT-2 of one layer, by hand: head `FINDER` looks at verbs from objects alone, all others at all words alike.

    written: what becomes of what the head writes when it finds a verb: it decides what follows, or nothing reads it, or
        there is nothing. Returns model and tokenizer.
    """
    tokenizer, width = gpt2_tokenizer(list(_WORDS)), 2 * _HALF
    sizes = {"n_embd": width, "n_layer": 1, "n_head": HEADS, "n_positions": 32, "tie_word_embeddings": False}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), bos_token_id=0, eos_token_id=0, **sizes)).eval()
    state = {name: torch.zeros_like(weights) for name, weights in model.state_dict().items()}
    state |= {name: torch.ones_like(weights) for name, weights in state.items() if ".ln_" in name and "weight" in name}
    for word, kind in _WORDS.items():
        channels = [list(_KINDS).index(kind), *([_VERB + VERBS.index(word)] if kind == "verb" else [])]
        (token,) = tokenizer(f" {word}")["input_ids"]
        state["transformer.wte.weight"][token, channels] = 1.0
        state["transformer.wte.weight"][token, [channel + _HALF for channel in channels]] = -1.0
        if kind == "particle":
            state["lm_head.weight"][token, _NEXT + PARTICLES.index(word)] = 10.0
    size = width // HEADS
    query, key, value = (slice(start * width + FINDER * size, None) for start in range(3))
    attend, project = (state[f"transformer.h.0.attn.{name}.weight"] for name in ("c_attn", "c_proj"))
    for index, kind in enumerate(_KINDS):
        attend[index, query.start] = 10.0 if kind == "object" else -10.0
    attend[list(_KINDS).index("verb"), key.start] = 10.0
    for verb in range(len(VERBS)):
        attend[_VERB + verb, value.start + verb] = 1.0
        if written == "read":
            project[FINDER * size + verb, _NEXT + verb] = 1.0
        elif written == "unread":
            # With its minus: the last norm takes off the mean of all channels, which would pass it on to those read.
            project[FINDER * size + verb, [_UNREAD, _UNREAD + _HALF]] = torch.tensor([1.0, -1.0])
    model.load_state_dict(state)
    return model, tokenizer


# Of a model that answers: the word behind `MARK`, which is read off what the head that finds the previous word writes.
MARK, _OTHERS = "the", tuple(word for word, kind in _WORDS.items() if kind in ("subject", "object", "adjective"))
_PLACES = 32


def any_sentences(number: int, seed: int = 0) -> list[Sentence]:
    """Sentences of six to ten random words, each hanging from the one before it."""
    rng, made = np.random.default_rng(seed), []
    for index in range(number):
        words = tuple(map(str, rng.choice([MARK, *_OTHERS], rng.integers(6, 11))))
        count, blank = len(words), ("",) * len(words)
        made.append(Sentence(str(index), words, tuple(range(count)), ("root", *["dep"] * (count - 1)), *[blank] * 3))
    return made


def questions_behind(number: int, seed: int = 0) -> list[Question]:
    """Questions for the word behind `MARK`, which is anywhere among twelve others."""
    rng, made = np.random.default_rng(seed), []
    for index in range(number):
        words = list(map(str, rng.choice(_OTHERS, 12)))
        at = rng.integers(1, len(words))
        before, answer = " ".join(["", *words[:at], MARK, ""]), words[at]
        context = before + " ".join(words[at:])
        made.append(Question(str(index), "any", "old old", context, (answer,), (len(before),)))
    return made


def planted_reader(is_read: bool):
    """A GPT-2 of one layer with a head for questions, by hand: head `FINDER` looks at the previous word alone.

    is_read: whether the answer is where the word before it is `MARK`, or anywhere. Returns model and tokenizer.
    """
    tokenizer, half = gpt2_tokenizer([MARK, *_OTHERS]), 2 * _PLACES
    sizes = {"n_embd": 2 * half, "n_layer": 1, "n_head": HEADS, "n_positions": _PLACES}
    config = GPT2Config(vocab_size=len(tokenizer), bos_token_id=0, eos_token_id=0, **sizes)
    model = GPT2ForQuestionAnswering(config).eval()
    state = {name: torch.zeros_like(weights) for name, weights in model.state_dict().items()}
    state |= {name: torch.ones_like(weights) for name, weights in state.items() if ".ln_" in name and "weight" in name}
    # Channels: places, then whether a word is the mark, and whether the one before it is; behind them minus each.
    mark, found = _PLACES, _PLACES + 1
    (token,) = tokenizer(f" {MARK}")["input_ids"]
    state["transformer.wte.weight"][token, [mark, mark + half]] = torch.tensor([1.0, -1.0])
    size, width = config.n_embd // HEADS, config.n_embd
    query, key, value = (start * width + FINDER * size for start in range(3))
    attend, project = (state[f"transformer.h.0.attn.{name}.weight"] for name in ("c_attn", "c_proj"))
    for place in range(_PLACES):
        state["transformer.wpe.weight"][place, [place, place + half]] = torch.tensor([1.0, -1.0])
        attend[place, key + place] = 10.0
        if place:
            attend[place, query + place - 1] = 10.0
    attend[mark, value] = 1.0
    project[FINDER * size, [found, found + half]] = torch.tensor([1.0, -1.0])
    if is_read:
        state["qa_outputs.weight"][:, found] = 10.0
    model.load_state_dict(state)
    return model, tokenizer
