"""Whether weights hold the head of a language model, although Transformers makes up one that they lack."""

import pytest
from transformers import AutoModel, AutoModelForQuestionAnswering

from headtypes.models.loading import MissingHeadError, load_model
from tests.support.models import FAMILIES, tiny_language_model
from tests.support.records import recorded

# Of a causal model whose output weights are its embeddings, no file holds a head.
TIED = (
    *("gpt2", "opt", "gemma", "gemma2", "gemma3_text", "gemma3n_text", "bloom", "falcon"),
    *("lfm2", "zamba2", "recurrent_gemma"),
)
WITH_ANSWERS = ("bert", "roberta", "modernbert", "distilbert", "gpt2", "opt", "llama", "qwen2")


def like(auto, name):
    model, tokenizer = tiny_language_model(name)
    return auto.from_config(model.config).eval(), tokenizer


@pytest.mark.parametrize("name", FAMILIES)
def test_a_language_model_has_the_head_of_its_family(name, tmp_path):
    model, tokenizer = tiny_language_model(name)
    record = recorded(model, tokenizer, tmp_path)
    head = record.language_head
    assert head == ("masked_lm" if tokenizer.mask_token else "causal_lm")
    loaded = load_model(record, "float32", head=head).cpu()
    assert type(loaded) is type(model)
    for weight, theirs in model.state_dict().items():
        assert loaded.state_dict()[weight].equal(theirs), weight


@pytest.mark.parametrize("name", FAMILIES)
def test_a_bare_model_has_none_but_where_its_embeddings_are_the_head(name, tmp_path):
    record = recorded(*like(AutoModel, name), tmp_path)
    if name in TIED:
        assert load_model(record, "float32", head=record.language_head) is not None
        return
    with pytest.raises(MissingHeadError, match=r"has no head for .*: its weights lack ") as error:
        load_model(record, "float32", head=record.language_head)
    assert str(tmp_path) in str(error.value)
    assert str(tmp_path) not in error.value.why


@pytest.mark.parametrize("name", WITH_ANSWERS)
def test_a_model_that_answers_questions_has_none(name, tmp_path):
    record = recorded(*like(AutoModelForQuestionAnswering, name), tmp_path)
    why = "another task, qa_outputs.bias" if name in TIED else "its weights lack"
    with pytest.raises(MissingHeadError, match=why):
        load_model(record, "float32", head=record.language_head)


def test_a_family_that_transformers_knows_no_such_head_of_has_none(tmp_path):
    record = recorded(*like(AutoModel, "gpt2"), tmp_path)
    with pytest.raises(MissingHeadError, match="of type gpt2, has no head for masked words") as error:
        load_model(record, "float32", head="masked_lm")
    assert error.value.why == "has no head for masked words in Transformers"
