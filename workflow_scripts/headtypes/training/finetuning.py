"""Fine-tuning of a model for a task, with `transformers.Trainer`."""

import hashlib
import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel, PreTrainedTokenizerBase, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR, get_last_checkpoint

from headtypes.core.errors import InputError, told
from headtypes.core.files import StrPath, canonical_json, read_json, write_json
from headtypes.core.progress import progress
from headtypes.data.tasks import KINDS, read_rows
from headtypes.data.windows import Windows
from headtypes.models.fetching import fetch_model, load_tokenizer
from headtypes.models.loading import HEADS, check_left_over, missing_weights
from headtypes.models.model_config import check_padding, config_of, padding_token
from headtypes.models.placement import keep_to_gpus, usable_precision
from headtypes.models.records import ModelRecord, read_model_record, save_model, write_model_record
from headtypes.training.settings import FinetuningSettings

# Batches of examples of similar length, with little padding, are made within stretches of this many batches.
_STRETCH = 50


# Every example is used once before any is used again. Transformers' own `group_by_length` draws anew in every epoch;
# here the whole run is planned, so that a resumed run continues exactly.
def _plan_order(lengths: np.ndarray, batch_size: int, steps: int, rng: np.random.Generator) -> list[int]:
    wanted = batch_size * steps
    passes = -(-wanted // len(lengths))
    order = np.concatenate([rng.permutation(len(lengths)) for _ in range(passes)])[:wanted]
    batches: list[np.ndarray] = []
    for start in range(0, wanted, batch_size * _STRETCH):
        stretch = order[start : start + batch_size * _STRETCH]
        stretch = stretch[np.argsort(lengths[stretch], kind="stable")].reshape(-1, batch_size)
        batches += [stretch[i] for i in rng.permutation(len(stretch))]
    return np.concatenate(batches).tolist()


# Padding is on the right, so that positions of answers remain valid. A decoder's classification head finds the end of
# a text by the model's own padding token.
def _batch_of(
    windows: Windows, targets: Mapping[str, np.ndarray], pad_token: int, chosen: Sequence[int]
) -> dict[str, torch.Tensor]:
    def padded(texts: Iterable[np.ndarray], fill: int = 0) -> torch.Tensor:
        tensors = [torch.tensor(text, dtype=torch.int64) for text in texts]
        return pad_sequence(tensors, batch_first=True, padding_value=fill)

    tokens = list(map(windows.tokens, chosen))
    texts = [windows.input_ids[part] for part in tokens]
    batch = {"input_ids": padded(texts, pad_token), "attention_mask": padded(map(np.ones_like, texts))}
    if windows.token_type_ids is not None:
        batch["token_type_ids"] = padded(windows.token_type_ids[part] for part in tokens)
    return batch | {name: torch.tensor(right[chosen]) for name, right in targets.items()}


def finetune_model(record: ModelRecord, rows: Sequence, out_folder: StrPath, *, kind: str, **settings) -> None:
    """Fine-tune a fetched model on the training data of a task, and save the model with its tokenizer in `out_folder`.

    rows: training data, from `read_rows`. If they have labels, the labels' names are saved in the model's config.
    kind: kind of task, such as `question_answering`. settings: fields of `FinetuningSettings`.
    If a run was killed, the next call resumes from its last complete checkpoint, with the same result.
    Raises `InputError` if `max_seq_length` is larger than the model takes, or the model does not load or diverges.
    """
    chosen, learned = FinetuningSettings(**settings), KINDS[kind]
    if chosen.max_seq_length > record.max_length:
        raise InputError(
            f"models.{record.name} takes inputs of at most {record.max_length} tokens; lower max_seq_length (now "
            f"{chosen.max_seq_length}) in the models that are fine-tuned from it."
        )
    tokenizer, head = load_tokenizer(record), HEADS[learned.head]
    windows = learned.cut_windows(rows, tokenizer, record, max_seq_length=chosen.max_seq_length)
    targets, labels = learned.training_targets(rows, windows)
    # Trainer seeds the random generators. Reading CUDA's starts it, so a GPU is taken first.
    keep_to_gpus(1)
    with torch.random.fork_rng():
        model = _load(head.auto, record, chosen, labels)
        if head.pooled:
            check_padding(model.config, record.folder)
        _finetune(model, tokenizer, windows, targets, Path(out_folder), chosen)


def _load(
    auto_class: type, record: ModelRecord, settings: FinetuningSettings, labels: Sequence[str] | None
) -> PreTrainedModel:
    # For weights that the model's files lack, such as those of its head.
    torch.manual_seed(settings.seed)
    folder = record.folder
    with told(f"{folder} does not load as a model that can be fine-tuned"):
        config = config_of(record)
        quantised = getattr(config, "quantization_config", None) is not None
        if not settings.dropout:
            config.update({name: 0.0 for name, rate in config.to_dict().items() if "drop" in name and rate})
        if labels is not None:
            config.id2label = dict(enumerate(labels))
            config.label2id = {name: number for number, name in enumerate(labels)}
        model, report = auto_class.from_pretrained(
            **record.pretrained,
            config=config,
            dtype=torch.float32,
            use_safetensors=not record.pickle,
            output_loading_info=True,
        )
    if quantised:
        # It would be saved as if it were quantised.
        raise InputError(
            f"{folder} has weights that are quantised, from which no model is fine-tuned; name it in floating-point "
            "numbers."
        )
    check_left_over(folder, model, report["unexpected_keys"])
    if lacking := [name for name in missing_weights(model, report) if name.startswith(f"{model.base_model_prefix}.")]:
        raise InputError(
            f"{folder} is no complete model: its weights lack {lacking[0]}; name one that was saved whole."
        )
    _check_finite(model, f"{folder} holds damaged weights", "fetch the model's files again")
    return model


def _check_finite(model: PreTrainedModel, what: str, remedy: str) -> None:
    for name, weights in model.named_parameters():
        if not torch.isfinite(weights).all():
            raise InputError(f"{what}: {name} is not finite; {remedy}.")


def _finetune(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    windows: Windows,
    targets: Mapping[str, np.ndarray],
    out_folder: Path,
    settings: FinetuningSettings,
) -> None:
    steps = math.ceil(settings.epochs * len(windows) / settings.batch_size)
    model.get_input_embeddings().requires_grad_(not settings.freeze_embeddings)
    rng = np.random.default_rng(settings.seed)
    order = _plan_order(np.diff(windows.offsets), settings.batch_size, steps, rng)
    checkpoints = out_folder.parent / f".{out_folder.name}.checkpoints"
    resumed = _last_checkpoint(checkpoints, _fingerprint(model, windows, targets, settings))
    arguments = TrainingArguments(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=settings.batch_size,
        train_sampling_strategy="sequential",
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=math.ceil(0.1 * steps),
        # Adam's second-moment bias is corrected here, which the released code of Devlin et al. leaves out and
        # which makes small data sets unstable (Mosbach et al. 2021).
        optim="adamw_torch_fused",
        weight_decay=0.01,
        max_grad_norm=1.0,
        bf16=settings.bf16 and usable_precision("bfloat16", f"{out_folder.name}, fine-tuning") == "bfloat16",
        use_cpu=not torch.accelerator.is_available(),
        seed=settings.seed,
        # A tenth of the work is lost, at most, if the run is killed.
        save_strategy="steps",
        save_steps=0.1,
        save_total_limit=1,
        logging_steps=10,
        report_to="none",
        disable_tqdm=True,
        log_level="error",
        remove_unused_columns=False,
        dataloader_pin_memory=torch.cuda.is_available(),
    )
    # With several GPUs, Trainer would multiply the batch size by their number.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=order,
        data_collator=partial(_batch_of, windows, targets, padding_token(model.config) or 0),
        callbacks=[_Progress(out_folder.name)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=resumed)
    # Nothing may continue from a run that diverged: neither from its checkpoints nor from its result.
    try:
        _check_finite(trainer.model, f"the training of {out_folder.name} diverged", "lower its learning_rate")
    except InputError:
        shutil.rmtree(checkpoints)
        raise
    save_model(trainer.model, tokenizer, out_folder)
    shutil.rmtree(checkpoints)


def _fingerprint(
    model: PreTrainedModel, windows: Windows, targets: Mapping[str, np.ndarray], settings: FinetuningSettings
) -> str:
    digest = hashlib.sha256(canonical_json(settings.model_dump()).encode())
    for array in (windows.input_ids, windows.token_type_ids, windows.offsets, *targets.values()):
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    for name, tensor in model.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _last_checkpoint(checkpoints: Path, fingerprint: str) -> str | None:
    run = checkpoints / "run.json"
    if checkpoints.exists() and (not run.exists() or read_json(run) != fingerprint):
        shutil.rmtree(checkpoints)
    write_json(run, fingerprint)
    for folder in checkpoints.glob(f"{PREFIX_CHECKPOINT_DIR}-*"):
        try:
            # Trainer writes it last.
            read_json(folder / "trainer_state.json")
        except (FileNotFoundError, InputError):
            shutil.rmtree(folder)
    return get_last_checkpoint(checkpoints)


class _Progress(TrainerCallback):
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


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    finetune_model(read_model_record(inputs.base), read_rows(inputs.rows, spec["kind"]), outputs.folder, **spec)
    write_model_record(outputs.model, fetch_model(provenance["wildcards"]["model"], {"folder": outputs.folder}))
