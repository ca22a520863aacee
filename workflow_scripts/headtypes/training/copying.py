"""Training a small decoder from scratch until it copies: a control for whatever finds heads.

With two layers, it learns a head of the previous token and, above it, an induction head. In a single layer no head can:
a key knows nothing of the token before it (Olsson et al. 2022).
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int64
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from headtypes.core.files import StrPath, derive_seed
from headtypes.core.progress import progress
from headtypes.models.fetching import fetch_model
from headtypes.models.records import save_model, write_model_record

# Their order decides what is drawn: two of them are marks of punctuation.
_WORDS = """
. in The , In was a the He and by that It Old She acquired he judged painted copied as wrote to composed moved lost
colonized settled died restored repaired married on received Medal year she Little hired an encountered soon New
Barnbourne learned served quietly Holbourne taught records show letters say River Lucy Race Upper suddenly Brookcroft
Lockridge studied purchased bought born Vera met toured Cup it organized Whitley Holshaw Great Holman won Mark Lockley
Blackmore Philip finally Lonely built flooded Nancy Crowridge welcomed town lies Tournament High guides claim
Brookbourne Arthur Prize grew up East Henry established Her Clayfield Frank Dark Fernby limestone gladly Ben earned is
stolen Show lasted arranged West Fair Michael Key cousin Eleanor Rookwell Lily newspapers report Door lectured Distant
employed
"""
# Tokens of a training sequence, and of what it repeats: of many lengths, so that no fixed distance is the answer.
_LENGTH, _PERIODS = 64, (16, 33)
_BATCH, _LEARNING_RATE, _WARMUP = 16, 1e-2, 20
# A model copies when it has predicted this share of the repeated tokens in so many batches, all of new sequences.
_COPIED, _BATCHES = 0.95, 10


def train_model(out_folder: StrPath, *, layers: int, seed: int, steps: int = 800) -> None:
    """Train a small decoder until it copies repeated words; save it, its tokenizer and `training.json` in `out_folder`.

    The decoder is a Llama with 64 channels, and 4 heads in each of `layers` layers. steps: most updates.
    seed: seed of the first weights and of the training sequences. Only repeated words count in the loss.
    Training ends early once 95 % of the repeated words in the last ten batches are predicted. Keys of `training.json`:
    copies (whether 95 % was reached), predicted (share in the last ten batches), steps (number of updates made).
    """
    tokenizer, out_folder = _tokenizer(), Path(out_folder)
    rng = np.random.default_rng(derive_seed(seed, "sequences"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with ExitStack() as restored:
        restored.callback(torch.set_num_threads, threads)
        restored.enter_context(torch.random.fork_rng(devices=[]))
        torch.manual_seed(seed)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(tokenizer),
                num_hidden_layers=layers,
                hidden_size=64,
                intermediate_size=32,
                num_attention_heads=4,
                head_dim=32,
                max_position_embeddings=512,
                bos_token_id=tokenizer.bos_token_id,
                eos_token_id=None,
                tie_word_embeddings=True,
                # With biases, a head can attend by position alone; without them, it takes three times as many steps.
                attention_bias=True,
                initializer_range=0.1,
            )
        )
        shares = _train(model, tokenizer, rng, steps, out_folder.name)
    predicted = float(np.mean(shares[-_BATCHES:]))
    about = {"steps": len(shares), "copies": predicted >= _COPIED, "predicted": round(predicted, 4)}
    save_model(model.eval(), tokenizer, out_folder, {"training.json": about})


def _train(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, rng: np.random.Generator, steps: int, name: str
) -> list[float]:
    optimiser = torch.optim.AdamW(model.parameters(), lr=_LEARNING_RATE, betas=(0.9, 0.99), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1, (step + 1) / _WARMUP))
    shares: list[float] = []
    with progress(steps, f"{name}, training", "steps") as bar:
        while len(shares) < steps and not (len(shares) >= _BATCHES and np.mean(shares[-_BATCHES:]) >= _COPIED):
            ids, repeated = _draw(tokenizer, rng)
            logits = model(ids).logits[:, :-1][repeated]
            targets = ids[:, 1:][repeated]
            loss = torch.nn.functional.cross_entropy(logits, targets)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            shares.append(float((logits.argmax(-1) == targets).float().mean()))
            bar.set_postfix(predicted=f"{shares[-1]:.2f}", refresh=False)
            bar.update(1)
    return shares


def _draw(
    tokenizer: PreTrainedTokenizerFast, rng: np.random.Generator
) -> tuple[Int64[torch.Tensor, "sequence token"], Bool[torch.Tensor, "sequence next"]]:
    words = np.arange(len(tokenizer.all_special_ids), len(tokenizer))
    periods = rng.integers(*_PERIODS, _BATCH)
    drawn = rng.permuted(np.tile(words, (_BATCH, 1)), axis=1)[:, :_LENGTH]
    places = np.arange(_LENGTH)
    ids = np.take_along_axis(drawn, places % periods[:, None], axis=1)
    ids = np.concatenate([np.full((_BATCH, 1), tokenizer.bos_token_id), ids], axis=1)
    return torch.from_numpy(ids), torch.from_numpy(places > periods[:, None])


def _tokenizer() -> PreTrainedTokenizerFast:
    split = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), "removed", invert=True)
    words = ["<s>", "<unk>", *_WORDS.split()]
    backend = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    backend.pre_tokenizer = split
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B:1", special_tokens=[("<s>", 0)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", unk_token="<unk>", model_input_names=["input_ids", "attention_mask"]
    )


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    train_model(outputs.folder, **spec)
    write_model_record(outputs.model, fetch_model(provenance["wildcards"]["model"], {"folder": outputs.folder}))
