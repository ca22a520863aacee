"""A loaded model whose heads are ablated for any code: as computed densely, as the workflow has it, and restored."""

import gc
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import torch
from transformers import StaticCache

from headtypes.api.ablation import ABLATED, ablated
from headtypes.api.reading import read_heads
from headtypes.attention.hook import model_inputs
from headtypes.attention.operations import Reading
from headtypes.core.errors import InputError
from tests.support.dense import CHANGES, dense_output, head_outputs_for, mixed
from tests.support.models import state, tiny_bert, tiny_language_model
from tests.support.planted import typed
from tests.support.records import types_in, windows_of

# What needs no sentences, and so works on steps of `generate` with a cache.
STEPWISE = ["zero", "uniform", "mean", "temperature 0.3"]
# Shared keys; learnt positions; local layers, whose keys leave the cache; a head that calls a part of the body itself;
# attention that Transformers' interface does not carry.
DECODERS = ["llama", "gpt2", "mistral", "gemma3_text", "opt", "bloom"]
PAPER = Reading()


def exact(name: str):
    """A random language model in float64, so that nothing but another computation makes a difference."""
    # One layer keeps the keys of its window alone, so that two layers of one step have different numbers of keys.
    layers = {"layer_types": ["sliding_attention", "full_attention"]} if name == "gemma3_text" else {}
    model, tokenizer = tiny_language_model(name, **layers)
    return model.double(), tokenizer


def by_name(operations: np.ndarray) -> dict[str, str]:
    return {f"{layer + 1}-{head + 1}": operations[layer, head] for layer, head in np.ndindex(operations.shape)}


def sentences_of(windows):
    """The sentences of windows that the workflow made, by their tokens."""
    known = {}
    for window in range(len(windows)):
        tokens = windows.tokens(window)
        known[tuple(windows.input_ids[tokens].tolist())] = windows.sentence[tokens]

    def sentences(ids, mask) -> np.ndarray:
        numbered, real = np.full(ids.shape, -1), mask.numpy() == 1
        for row, text, is_token in zip(numbered, ids.numpy(), real, strict=True):
            row[is_token] = known[tuple(text[is_token].tolist())]
        return numbered

    return sentences


def padded(model, windows, side: str) -> dict[str, torch.Tensor]:
    """All windows as one batch, padded at one end."""
    rows = [windows.tokens(window) for window in range(len(windows))]
    types = None if windows.token_type_ids is None else [windows.token_type_ids[each] for each in rows]
    ids = [windows.input_ids[each] for each in rows]
    inputs = model_inputs(ids, types, model.config.pad_token_id or 0, torch.device("cpu"))
    if side == "left":
        for name, tensor in inputs.items():
            inputs[name] = torch.stack([row.roll(len(row) - len(each)) for row, each in zip(tensor, ids, strict=True)])
        inputs["position_ids"] = (inputs["attention_mask"].cumsum(-1) - 1).clamp_min(0)
    return inputs


def halved_scores(attention, rows) -> torch.Tensor:
    root = attention.sqrt()
    return root / root.sum(-1, keepdim=True)


def numbers(output) -> torch.Tensor:
    return output.logits if "logits" in output else output.last_hidden_state


def check_against_dense(name: str, operations: list[str], reading: Reading = PAPER) -> None:
    """Each window of a batch has the numbers that `dense_output` has of it alone."""
    model, tokenizer = exact(name)
    windows, mixture = windows_of(tokenizer), mixed(model, operations)
    inputs = padded(model, windows, "right" if name == "bert" else "left")
    how = {"reading": reading, "head_outputs": head_outputs_for(model)}
    with ablated(model, by_name(mixture), sentences=sentences_of(windows), **how), torch.inference_mode():
        found = numbers(model(**inputs))
    for window, (row, mask) in enumerate(zip(found, inputs["attention_mask"].bool(), strict=True)):
        tokens, types = windows.tokens(window), types_in(windows, window)
        about = windows.input_ids[tokens], types, mixture, windows.sentence[tokens].tolist()
        dense = dense_output(model, *about, **how)
        torch.testing.assert_close(row[mask], numbers(dense)[0], atol=1e-9, rtol=0)


@pytest.mark.parametrize("operation", [*CHANGES, "all of them"])
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "mistral"])
def test_an_operation_equals_the_dense_computation_in_batches_padded_on_either_side(name, operation):
    check_against_dense(name, ["keep", *CHANGES] if operation == "all of them" else ["keep", operation])


@pytest.mark.parametrize("reading", [Reading(renormalise=True), Reading("segments", "cut")])
def test_readings_are_those_of_the_workflow(reading):
    check_against_dense("bert", ["drop_intra", "drop_inter"], reading)


@pytest.mark.parametrize(("own", "operation"), [(lambda it, rows: it * 0, "zero"), (halved_scores, "temperature 2")])
@pytest.mark.parametrize("name", ["bert", "llama"])
def test_a_function_of_ones_own_does_what_the_same_operation_does(name, own, operation):
    model, tokenizer = exact(name)
    inputs = padded(model, windows_of(tokenizer), "right" if name == "bert" else "left")
    real = inputs["attention_mask"].bool()

    def logits(change) -> torch.Tensor:
        with ablated(model, {"1-2": change, "2-1": change}), torch.inference_mode():
            return numbers(model(**inputs))[real]

    torch.testing.assert_close(logits(own), logits(operation), atol=1e-9, rtol=0)
    assert not torch.allclose(logits(own), logits("keep"))


def prompts(tokenizer) -> dict[str, torch.Tensor]:
    long = tokenizer("the old cat sat by the river and it")["input_ids"]
    short = tokenizer("a dog ran")["input_ids"]
    ids = torch.tensor([long, [0] * (len(long) - len(short)) + short])
    mask = torch.tensor([[1] * len(long), [0] * (len(long) - len(short)) + [1] * len(short)])
    return {"input_ids": ids, "attention_mask": mask}


def generated(model, tokenizer, **how):
    how = {"max_new_tokens": 12, "min_new_tokens": 12, "do_sample": False} | how
    return model.generate(**prompts(tokenizer), output_logits=True, return_dict_in_generate=True, **how)


@pytest.mark.parametrize("operation", STEPWISE)
@pytest.mark.parametrize("name", DECODERS)
def test_generation_with_the_cache_equals_that_without(name, operation):
    model, tokenizer = exact(name)
    operations = by_name(mixed(model, ["keep", operation]))
    plain = generated(model, tokenizer)
    with ablated(model, operations, head_outputs=head_outputs_for(model)):
        cached, whole = (generated(model, tokenizer, use_cache=use_cache) for use_cache in (True, False))
    assert cached.past_key_values is not None
    assert whole.past_key_values is None
    torch.testing.assert_close(torch.stack(cached.logits), torch.stack(whole.logits), atol=1e-9, rtol=0)
    assert torch.equal(cached.sequences, whole.sequences)
    # Of the prompt that is not padded: of the other, BLOOM itself gives numbers that are none.
    assert (plain.logits[0] - cached.logits[0])[0].abs().max() > 1e-2


@pytest.mark.parametrize("how", [{"num_beams": 3}, {"cache_implementation": "static"}, {"prefill_chunk_size": 2}])
def test_generation_of_other_kinds_equals_that_without_a_cache(how):
    model, tokenizer = exact("llama")
    with ablated(model, {"1-2": "uniform", "2-1": "zero", "2-4": "uniform"}):
        found = generated(model, tokenizer, **how)
        expected = generated(model, tokenizer, **how if "num_beams" in how else {}, use_cache=False)
    assert torch.equal(found.sequences, expected.sequences)


def one_sentence(ids, mask) -> np.ndarray:
    return np.zeros(ids.shape, int)


def test_dropping_pairs_of_tokens_in_a_cache_is_refused_and_works_without():
    model, tokenizer = exact("llama")
    with ablated(model, {"1-1": "drop_intra"}, sentences=one_sentence):
        with pytest.raises(InputError, match="earlier ones are in a cache; call `generate` with use_cache=False"):
            generated(model, tokenizer)
        with pytest.raises(InputError, match="use_cache=False"):
            model(input_ids=torch.tensor([[3, 4]]), past_key_values=StaticCache(model.config, max_cache_len=9))
        dropped = generated(model, tokenizer, use_cache=False)
    # In a text of one sentence, nothing is left of the head.
    with ablated(model, {"1-1": "zero"}):
        zeroed = generated(model, tokenizer)
    torch.testing.assert_close(torch.stack(dropped.logits), torch.stack(zeroed.logits), atol=1e-9, rtol=0)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_the_model_is_as_before_also_after_an_exception(implementation):
    model, tokenizer = tiny_language_model("llama")
    model.set_attn_implementation(implementation)
    before, plain = state(model), generated(model, tokenizer)
    with ablated(model, {"1-1": "zero"}) as same:
        assert same is model
        assert state(model) != before
    assert state(model) == before
    with pytest.raises(ZeroDivisionError), ablated(model, {"1-1": "zero"}):
        raise ZeroDivisionError
    assert state(model) == before
    with pytest.raises(InputError), ablated(model, {"9-1": "zero"}):
        pass
    assert state(model) == before
    stop = model.model.layers[1].register_forward_pre_hook(lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt), ablated(model, {"1-1": "zero"}):
        generated(model, tokenizer)
    stop.remove()
    assert state(model) == before
    after = generated(model, tokenizer)
    torch.testing.assert_close(torch.stack(after.logits), torch.stack(plain.logits), atol=1e-4, rtol=0)


def test_calls_of_several_threads_do_not_disturb_each_other():
    model, _ = exact("llama")
    texts = [torch.randint(2, 20, (size, length)) for size, length in ((1, 40), (3, 7), (2, 23), (4, 12))] * 5
    with ablated(model, {"1-1": "uniform", "2-2": "zero", "2-3": "drop_inter"}, sentences=one_sentence):
        with torch.inference_mode():
            alone = [model(input_ids=ids).logits for ids in texts]

        def call(ids):
            with torch.inference_mode():
                return model(input_ids=ids).logits

        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(call, texts))
    for one, other in zip(alone, together, strict=True):
        torch.testing.assert_close(one, other, atol=1e-9, rtol=0)


def block_of(model):
    with ablated(model, {"1-1": "zero"}):
        yield


@pytest.mark.parametrize("thread", ["of the call", "another"])
@pytest.mark.parametrize("name", ["bert", "llama", "bloom", "generate"])
def test_a_call_that_goes_on_when_the_block_is_left_ends_with_an_error(name, thread):
    model, tokenizer = tiny_bert() if name == "bert" else tiny_language_model("llama" if name == "generate" else name)
    before, inputs = state(model), tokenizer("the cat sat", return_tensors="pt")
    last = [part for part in model.modules() if type(part).__name__.endswith(("Layer", "Block"))][-1]
    block = block_of(model)
    next(block)

    def leave(*_) -> None:
        with ThreadPoolExecutor(1) as other:
            block.close() if thread == "of the call" else other.submit(block.close).result()

    def between_calls(ids, scores) -> torch.Tensor:
        leave()
        return torch.zeros(len(ids), dtype=torch.bool)

    call = partial(model.generate, max_new_tokens=3, stopping_criteria=[between_calls]) if name == "generate" else model
    handle = None if name == "generate" else last.register_forward_pre_hook(leave)
    with pytest.raises(InputError, match="was left, or the attention of the model replaced, before this call"):
        call(**inputs)
    if handle is not None:
        handle.remove()
    assert state(model) == before
    # One that is garbage.
    held = [block_of(model)]
    next(held[0])
    held.append(held)
    del held
    gc.collect()
    assert state(model) == before


def test_parts_of_the_model_are_ablated_too_and_a_layer_alone_is_refused():
    model, _ = tiny_language_model("llama")
    ids = torch.tensor([[3, 4, 5]])
    with ablated(model, {"1-1": "zero"}), torch.inference_mode():
        whole = model(ids, output_hidden_states=True).hidden_states[-1]
        torch.testing.assert_close(model.model(ids).last_hidden_state, whole)
        hidden = torch.zeros(1, 3, 24)
        positions = model.model.rotary_emb(hidden, torch.arange(3)[None])
        with pytest.raises(InputError, match="LlamaAttention belongs to a model whose heads are ablated"):
            model.model.layers[0](hidden, position_embeddings=positions)


def test_heads_of_an_ablated_model_are_not_read_as_if_it_were_not():
    model, tokenizer = tiny_bert()
    with ablated(model, {"1-1": "zero"}):
        with pytest.raises(InputError, match="heads of an ablated model cannot be read"):
            read_heads(model, tokenizer, ["the cat sat"])
        assert model.config._attn_implementation == ABLATED
    read_heads(model, tokenizer, ["the cat sat"])


@pytest.mark.parametrize(
    ("operations", "more", "message"),
    [
        ({"1-9": "zero"}, {}, "there is no head 1-9; the model has 3 layers of 5 heads"),
        ({"last": "zero"}, {"partition": typed([["first"] * 5] * 3)}, 'no head of the model has the type "last"'),
        (
            {"first": "zero"},
            {"partition": typed([["first"] * 5] * 2)},
            "of 2 layers of 5 heads, but the model has 3 layers of 5",
        ),
        ({"1-1": "mean"}, {}, "mean needs the mean head outputs"),
        ({"1-1": "temperature 0"}, {}, "temperature takes a number above 0"),
        ({"1-1": "drop_inter"}, {}, "need `sentences`, a function"),
        ({"1-1": "uniform"}, {"reading": Reading(uniform_over_padding=True)}, "uniform_over_padding is for windows"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_call(operations, more, message):
    model, _ = tiny_bert()
    before = state(model)
    with pytest.raises(InputError, match=message), ablated(model, operations, **more):
        raise AssertionError("entered")
    assert state(model) == before


@pytest.mark.parametrize("wrong", [lambda ids, mask: np.zeros(3, int), lambda ids, mask: np.zeros(tuple(ids.shape))])
def test_sentences_of_a_wrong_shape_or_kind_are_refused(wrong):
    model, tokenizer = tiny_bert()
    with (
        pytest.raises(InputError, match="has to return the sentence of each token, whole numbers"),
        ablated(model, {"1-1": "drop_intra"}, sentences=wrong),
    ):
        model(**tokenizer("the cat sat", return_tensors="pt"))


def test_what_would_be_ablated_wrongly_is_refused():
    model, tokenizer = tiny_bert()
    inputs = tokenizer("the cat sat", return_tensors="pt")
    with pytest.raises(InputError, match="was compiled"), ablated(torch.compile(model), {"1-1": "zero"}):
        pass
    with ablated(model, {"1-1": "zero"}):
        with pytest.raises(InputError, match="ablated already"), ablated(model, {"1-2": "zero"}):
            pass
        with pytest.raises(InputError, match="Gradients do not pass"):
            model(**inputs)[0].sum().backward()
        with pytest.raises(InputError, match=r"call model\.eval\(\) first"):
            model.train()(**inputs)
