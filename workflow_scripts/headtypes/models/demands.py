"""Whether a model, by what its files say of it, is what the configuration asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headtypes.core.errors import InputError
from headtypes.models.language_weights import lacking_head
from headtypes.models.outline import Outline, advice_on_labels, known_labels

# By the head that a task needs: how the weights of such heads are called, and what it is for messages.
_NEEDED = {
    "question_answering": (("qa_outputs",), "question-answering head"),
    "sequence_classification": (
        ("classifier", "score", "classification_head", "sequence_summary", "logits_proj"),
        "classification head",
    ),
}
# What language models answer with: any head for language, or that for the next token.
_OF_LANGUAGE = ("language_model", "causal_lm")
# Types whose heads have other names.
_OTHERWISE = ("big_bird", "lxmert", "modernbert", "splinter")


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What the configuration asks of a model, besides that it is one; no result depends on it.

    sha256:     of its file of weights.
    head:       the head that it needs, as in `loading.HEADS`, or `protocol.LANGUAGE_MODEL` of the tasks.
    labels:     the task that it is evaluated on, where it is a classifier, and by each label of the data what the task
        says that it is called.
    clusters:   the largest k.
    named:      heads that conditions name, (layer, head) from 0, by the name of the condition.
    partitions: the user's files of types, by the name of the partition.
    pieces:     whether its weights are to be loaded piece by piece, into several places.
    """

    sha256: str | None = None
    head: str | None = None
    labels: tuple[str, Mapping[str, str]] | None = None
    clusters: int | None = None
    named: Mapping[str, list[tuple[int, int]]] = field(default_factory=dict)
    partitions: Mapping[str, str] = field(default_factory=dict)
    pieces: bool = False


def check_demands(key: str, outline: Outline, demands: Demands) -> None:
    """Raise `InputError` where a model cannot be used as the configuration says; what is not known is not asked.

    sha256 and partitions are checked where they are read (`fetching.fetch_model`, `types.partition_rows`).
    """
    where, evaluated = f"{key}: {outline.folder}", f"{key.removeprefix('config: ')}.evaluate"
    if demands.pieces and outline.whole:
        raise InputError(
            f"{key}.memory: only weights in safetensors that are not quantised are loaded piece by piece; save the "
            "model with save_pretrained, or leave the key out."
        )
    if demands.head not in (None, "seq2seq_lm") and outline.two_stacks:
        raise InputError(
            f"{where} is an encoder with a decoder, which is evaluated on texts with targets alone; name a task of "
            f"kind text_to_text, or leave {evaluated} out."
        )
    if demands.head == "seq2seq_lm" and outline.type is not None and not outline.two_stacks:
        raise InputError(
            f"{where} is no encoder with a decoder, which alone predicts a target from a source; leave {evaluated} out."
        )
    if demands.head in _NEEDED and outline.tensors and outline.type is not None and outline.type not in _OTHERWISE:
        names, in_words = _NEEDED[demands.head]
        if not any(name in tensor.split(".") for tensor in outline.tensors for name in names):
            raise InputError(
                f"{where} has no {in_words}: none of its weights is called {' or '.join(names)}; name a model that was "
                f"fine-tuned for the task, or leave {evaluated} out."
            )
    if demands.head in _OF_LANGUAGE:
        lacking = lacking_head(
            outline.type, outline.decoder, outline.tied, outline.tensors, demands.head == "causal_lm"
        )
        if lacking is not None:
            better = "causal language model" if demands.head == "causal_lm" else "language model"
            raise InputError(f"{where} {lacking}; name a {better}, or leave {evaluated} out.")
    if demands.labels is not None and outline.labels is not None:
        _check_labels(where, outline.labels, *demands.labels)
    if outline.layers is None or outline.heads is None:
        return
    mistakes = []
    begin, shape = key[: key.index("models.")], f"{outline.layers} layers of {outline.heads} heads"
    where = where.removeprefix(begin)
    if demands.clusters is not None and demands.clusters > outline.layers * outline.heads:
        mistakes.append(
            f"{begin}clustering.k: {where} has {shape}, {outline.layers * outline.heads} in all, which cannot "
            f"be divided into {demands.clusters} types; take {demands.clusters} out of it, or choose with "
            "select.partitions."
        )
    for condition, heads in demands.named.items():
        lacking = [
            f"{layer + 1}-{head + 1}" for layer, head in heads if layer >= outline.layers or head >= outline.heads
        ]
        if lacking:
            mistakes.append(
                f"{begin}conditions.{condition}: {where} has {shape}, and conditions.{condition} names "
                f"{', '.join(lacking)}; name other heads, or leave the condition out with select.conditions."
            )
    if mistakes:
        raise InputError(" ".join(mistakes))


def _check_labels(where: str, names: tuple[str, ...], task: str, labels: Mapping[str, str]) -> None:
    known = known_labels(names)
    if unknown := {label: it for label, it in labels.items() if it.casefold() not in known}:
        found = (
            f"{label!r}" + f" (for which {task}.labels says {it!r})" * (it != label) for label, it in unknown.items()
        )
        # The task is what is to be changed, and whose line is named.
        begin, *model = where.partition("models.")
        raise InputError(
            f"{begin}{task}.labels: {''.join(model)} knows the labels {', '.join(known)}, and {task} has "
            f"{', '.join(found)}; {advice_on_labels(unknown)}."
        )
