"""Fine-tuning of an encoder for question answering or sentence pairs, with `transformers.Trainer`."""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.trainer_callback import PrinterCallback

from headtypes.base.errors import InputError, one_line
from headtypes.base.files import canonical_json, reach_disk
from headtypes.base.progress import progress
from headtypes.models.fetching import check_padding, load_tokenizer
from headtypes.models.gpus import keep_to_one_gpu
from headtypes.models.records import ModelRecord
from headtypes.models.silence import silence_transformers
from headtypes.training.checkpoints import Checkpoints, last_checkpoint
from headtypes.training.inputs import (
    Features,
    PlannedSamples,
    encode_pairs,
    encode_questions,
    pad_batch,
    plan_order,
)

silence_transformers()


@dataclass(frozen=True)
class FinetuningSettings:
    """How a model is fine-tuned. The defaults are those of Devlin et al. 2019 for SQuAD v1.1 (section 4.2, run_squad).

    steps: number of updates; None for as many as `epochs` passes over the data need. warmup_share: share of
    the steps over which the learning rate rises to `learning_rate`, from where it falls to zero, linearly
    both. max_seq_length, max_query_length, doc_stride: tokens (`encode_questions`). freeze_embeddings: leave the
    word embeddings as they are. bf16: compute in bfloat16 where autocast holds it safe; the weights stay
    float32. checkpoint_seconds: how much work a kill may cost at most, but for the step it falls in.
    """

    learning_rate: float = 5e-5
    batch_size: int = 32
    epochs: float = 3.0
    steps: int | None = None
    warmup_share: float = 0.1
    weight_decay: float = 0.01
    max_seq_length: int = 384
    max_query_length: int = 64
    doc_stride: int = 128
    freeze_embeddings: bool = False
    bf16: bool = False
    seed: int = 0
    checkpoint_seconds: float = 45.0


QUESTION_ANSWERING = FinetuningSettings()
# Devlin et al. 2019, section 4.1: 3 epochs, batches of 32, the best of four learning rates, of which this is
# one; windows of 128 tokens are the released run_classifier's.
SENTENCE_PAIRS = replace(QUESTION_ANSWERING, learning_rate=2e-5, max_seq_length=128)


def finetune_model(record: ModelRecord, rows: Sequence[dict], out_folder: str | Path, *, kind: str, **settings) -> None:
    """Fine-tune a fetched model on a task's training data, and save it with its tokenizer as `out_folder`.

    record: the model, as `sources.fetch_model` found it. rows: questions or sentence pairs, as `tasks.fetch_task`
    reads them; labels of any kind, which the saved model carries as names. kind: question_answering or
    sentence_pair. settings: fields of `FinetuningSettings`. Killed and called again with the same arguments, it
    goes on from its last whole checkpoint.
    """
    chosen = FinetuningSettings(**settings)
    if chosen.max_seq_length > record.max_length:
        raise InputError(
            f"models.{record.name}: takes inputs of {record.max_length} tokens at most; lower max_seq_length, which is "
            f"{chosen.max_seq_length}, of the models that are fine-tuned from it."
        )
    tokenizer = load_tokenizer(record)
    if kind == "question_answering":
        finetune_question_answering(record.folder, tokenizer, rows, out_folder, chosen, record.pickle)
    else:
        labels = sorted({row["label"] for row in rows})
        numbered = [{**row, "label": labels.index(row["label"])} for row in rows]
        names = [str(each) for each in labels]
        finetune_sentence_pairs(record.folder, tokenizer, numbered, names, out_folder, chosen, record.pickle)


def finetune_question_answering(
    model: str | Path | PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    questions: Sequence[dict],
    out_folder: str | Path,
    settings: FinetuningSettings = QUESTION_ANSWERING,
    pickle: bool = False,
) -> None:
    """Fine-tune a model to mark answers in contexts, and save it with its tokenizer as `out_folder`.

    model: a folder in the Hugging Face layout, or a loaded question-answering model, which is trained in
    place. questions: as `squad.read_squad` returns them. pickle: whether the folder's weights are one. Nothing is
    fetched from the network.
    Killed and called again with the same arguments, it goes on from its last whole checkpoint.
    """
    features = encode_questions(
        tokenizer, questions, settings.max_seq_length, settings.max_query_length, settings.doc_stride
    )
    with _own_generators():
        if not isinstance(model, PreTrainedModel):
            model = _load(AutoModelForQuestionAnswering, model, settings.seed, pickle)
        _finetune(model, tokenizer, features, Path(out_folder), settings)


def finetune_sentence_pairs(
    model: str | Path | PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[dict],
    labels: Sequence[str],
    out_folder: str | Path,
    settings: FinetuningSettings = SENTENCE_PAIRS,
    pickle: bool = False,
) -> None:
    """Fine-tune a model to classify sentence pairs, and save it with its tokenizer as `out_folder`.

    model: a folder in the Hugging Face layout, or a loaded sequence classifier, which is trained in place. pairs:
    first, second and label each, the label being a place in `labels`, whose names the saved model carries. Otherwise as
    `finetune_question_answering`.
    """
    features = encode_pairs(tokenizer, pairs, settings.max_seq_length)
    with _own_generators():
        if not isinstance(model, PreTrainedModel):
            names = dict(enumerate(labels))
            numbers = {name: number for number, name in names.items()}
            labelled = {"id2label": names, "label2id": numbers}
            model = _load(AutoModelForSequenceClassification, model, settings.seed, pickle, **labelled)
        check_padding(model.config, model.name_or_path)
        _finetune(model, tokenizer, features, Path(out_folder), settings)


@contextmanager
def _own_generators() -> Iterator[None]:
    """Generators of random numbers as they were before, since Trainer seeds the global ones.

    To look at those of CUDA starts it, so this process takes its GPU first.
    """
    keep_to_one_gpu()
    with torch.random.fork_rng():
        yield


def _load(auto_class, folder: str | Path, seed: int, pickle: bool, **more) -> PreTrainedModel:
    """Load a model; what its checkpoint lacks (the new head) is drawn from `seed`."""
    torch.manual_seed(seed)
    try:
        model = auto_class.from_pretrained(
            folder,
            dtype=torch.float32,
            local_files_only=True,
            use_safetensors=not pickle,
            trust_remote_code=False,
            **more,
        )
    except Exception as error:  # Damaged files fail in many ways.
        raise InputError(f"{folder} does not load as a model that can be fine-tuned ({one_line(error)}).") from error
    _check_finite(model, f"{folder} holds damaged weights", "take the model's files anew")
    return model


def _check_finite(model: PreTrainedModel, what: str, remedy: str) -> None:
    for name, weights in model.named_parameters():
        if not torch.isfinite(weights).all():
            raise InputError(f"{what}: {name} is not finite; {remedy}.")


def _finetune(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    features: list[Features],
    out_folder: Path,
    settings: FinetuningSettings,
) -> None:
    steps = settings.steps or math.ceil(settings.epochs * len(features) / settings.batch_size)
    model.get_input_embeddings().requires_grad_(not settings.freeze_embeddings)
    lengths = [len(feature["input_ids"]) for feature in features]
    order = plan_order(lengths, settings.batch_size, steps, np.random.default_rng(settings.seed))
    checkpoints = out_folder.parent / f".{out_folder.name}.checkpoints"
    resumed = last_checkpoint(checkpoints, _fingerprint(model, features, settings))
    arguments = TrainingArguments(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=settings.batch_size,
        train_sampling_strategy="sequential",
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=math.ceil(settings.warmup_share * steps),
        # Adam's second-moment bias is corrected here, which the released code of Devlin et al. leaves out and
        # which makes small data sets unstable (Mosbach et al. 2021).
        optim="adamw_torch_fused",
        weight_decay=settings.weight_decay,
        max_grad_norm=1.0,
        bf16=settings.bf16,
        use_cpu=not torch.accelerator.is_available(),
        seed=settings.seed,
        save_strategy="no",
        save_total_limit=1,
        logging_steps=10,
        report_to="none",
        disable_tqdm=True,
        log_level="error",
        remove_unused_columns=False,
        dataloader_pin_memory=torch.cuda.is_available(),
    )
    # With several GPUs Trainer would multiply the batch by their number.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=PlannedSamples(features, order),
        data_collator=lambda batch: pad_batch(tokenizer, batch),
        callbacks=[Checkpoints(settings.checkpoint_seconds), _Progress(out_folder.name)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=resumed)
    # Neither a checkpoint of such a run nor its result may be gone on from.
    try:
        _check_finite(trainer.model, f"{out_folder.name} was not learned", "lower its learning_rate")
    except InputError:
        shutil.rmtree(checkpoints)
        raise
    _save(trainer.model, tokenizer, out_folder)
    shutil.rmtree(checkpoints)


def _fingerprint(model: PreTrainedModel, features: list[Features], settings: FinetuningSettings) -> str:
    """A digest of all that the result follows from: a checkpoint of another run must not be gone on from."""
    digest = hashlib.sha256()
    kept = {name: value for name, value in asdict(settings).items() if name != "checkpoint_seconds"}
    digest.update(canonical_json(kept).encode())
    digest.update(json.dumps(features).encode())
    for name, tensor in model.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, out_folder: Path) -> None:
    """Write the folder under a temporary name and move it into place whole."""
    temporary = out_folder.with_name(f".{out_folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    model.save_pretrained(temporary)
    # A truncation or padding of an earlier call, or of the base's own file, would be saved with the tokenizer.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(temporary)
    reach_disk(temporary)
    if out_folder.exists():
        shutil.rmtree(out_folder)
    os.replace(temporary, out_folder)


class _Progress(TrainerCallback):
    """A progress bar that starts where a resumed run starts, with the loss beside it."""

    def __init__(self, name: str):
        self._name = name

    def on_train_begin(self, args, state, control, **kwargs):
        self._bar = progress(state.max_steps, f"{self._name}, fine-tuning", "steps")
        self._bar.update(state.global_step)

    def on_step_end(self, args, state, control, **kwargs):
        self._bar.update(1)

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            self._bar.set_postfix(loss=f"{float(logs['loss']):.3f}", refresh=False)

    def on_train_end(self, args, state, control, **kwargs):
        self._bar.close()
