"""Tiny tokenizers, built on the spot: a WordPiece as BERT's and a byte-level BPE as RoBERTa's."""

import string
from collections.abc import Sequence

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast


def _bert_backend(words: Sequence[str]) -> Tokenizer:
    characters = string.ascii_lowercase + string.digits
    pieces = [
        *["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        *string.punctuation,
        *characters,
        *(f"##{character}" for character in characters),
        *(word.lower() for word in words),
    ]
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    backend.decoder = decoders.WordPiece()
    return backend


def _fast(backend: Tokenizer, *further_inputs: str, **special_tokens: str) -> PreTrainedTokenizerFast:
    inputs = ["input_ids", *further_inputs, "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=backend, model_input_names=inputs, **special_tokens)


def _as_bert(backend: Tokenizer) -> PreTrainedTokenizerFast:
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return _fast(backend, "token_type_ids", **names)


def bert_tokenizer(words: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """Lower-casing WordPiece, `[CLS] a [SEP] b [SEP]`: a word of `words` is one piece, others characters."""
    return _as_bert(_bert_backend(words))


def truncating_tokenizer(words: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """`bert_tokenizer` that by itself truncates and pads to 8 tokens, as some published tokenizer.json do."""
    backend = _bert_backend(words)
    backend.enable_truncation(max_length=8)
    backend.enable_padding(length=8, pad_id=0, pad_token="[PAD]")
    return _as_bert(backend)


def _byte_level(words: Sequence[str], special_tokens: list[str]) -> Tokenizer:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=2000,
        min_frequency=1,
        special_tokens=special_tokens,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator([f" {word}" for word in words], trainer)
    backend.decoder = decoders.ByteLevel()
    return backend


def roberta_tokenizer(words: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """Byte-level BPE, `<s> a </s></s> b </s>`: a word of `words` after a space is one piece."""
    backend = _byte_level(words, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    backend.post_processor = processors.RobertaProcessing(
        ("</s>", backend.token_to_id("</s>")),
        ("<s>", backend.token_to_id("<s>")),
        trim_offsets=True,
        add_prefix_space=False,
    )
    names = {"bos": "<s>", "eos": "</s>", "cls": "<s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>", "mask": "<mask>"}
    return _fast(backend, **{f"{name}_token": token for name, token in names.items()})


def gpt2_tokenizer(words: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """Byte-level BPE that adds nothing to `a b` and knows no padding; one token could begin and end a text."""
    end = "<|endoftext|>"
    return _fast(_byte_level(words, [end]), bos_token=end, eos_token=end, unk_token=end)


def llama_tokenizer(words: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """Byte-level BPE, `<s> a b`, that ends no text and knows no padding."""
    backend = _byte_level(words, ["<s>", "</s>"])
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B:1", special_tokens=[("<s>", backend.token_to_id("<s>"))]
    )
    return _fast(backend, bos_token="<s>", eos_token="</s>")
