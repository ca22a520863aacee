"""Sinks, and heads that retrieve, in long texts that a decoder reads: a table of heads in CSV.

    snakemake --cores 2 --configfile experiments/decoder.yaml --directory runs/decoder -- \\
        results/sources/models/smollm2.json
    python benchmarks/long_context.py runs/decoder/results/sources/models/smollm2.json --context 8192 --texts 16 \\
        --documents dev-v1.1.json --precision bfloat16 --output long.csv

The texts and needles are those of `detectors.context` in the workflow, with the seed of `config.yaml`. The
workflow computes the attention of all tokens; here a fused function computes the outputs, which takes less than half as
long, and only what is asked for is read: of the tokens that ask for a needle their attention to needles, and of all
tokens that to the first one and to the last 128. It is also counted how many of the tokens asked for the model copies.
For plain causal decoders (without caps, biases, sink logits and windows) that predict with their embeddings, on a CPU.
"""

import argparse
import os
import resource
import sys
import time
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import torch
from torch import Tensor

from headtypes.analyses.detectors.measure import scores_of
from headtypes.analyses.detectors.needles import Needles, draw_needles
from headtypes.analyses.detectors.results import detector_table
from headtypes.attention.hook import Layer
from headtypes.attention.one_pass import read_attention
from headtypes.attention.reducers import PerSample
from headtypes.attention.run import ModelOnTask
from headtypes.core.seeds import derive_seed
from headtypes.data.kinds.text.documents import read_documents
from headtypes.models.records import read_model_record

_NEAR = 128
SHARES = ("first", "near")
_SEED = 2020


class LongRows(PerSample):
    """A reducer of whole layers: of each head and text, `SHARES`, and behind them the attention of the rows that ask.

    first: the mean over all tokens of the attention to the first one; near: that to the last 128, the token itself
        among them, without the first one.
    """

    def __init__(self, needles: Needles):
        """needles: the texts, each of which is a batch."""
        self._needles = needles
        self._shape = needles.targets.shape[1:]
        super().__init__(len(SHARES) + int(np.prod(self._shape)))

    def read_layer(self, number: int, layer: Layer) -> Tensor:
        """Compute the outputs with the fused function, and the weights that are asked for from its sums of rows."""
        texts, length = layer.query.shape[::2]
        assert texts == 1
        assert layer.is_plain
        assert length % _NEAR == 0
        if number == 0:
            # The triangle is all that the fused function hides.
            assert torch.equal(layer.mask[0, 0], torch.ones(length, length, dtype=torch.bool).tril())
        outputs, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            *(each.contiguous() for each in (layer.query, layer.key, layer.value)), 0.0, True, scale=layer.scale
        )
        targets = torch.from_numpy(self._needles.targets[self.batch.samples[0]])
        for head in range(layer.query.shape[1]):
            query, key = layer.query[0, head].float() * layer.scale, layer.key[0, head].float()
            of_rows = sums[0, head].float()
            first = (query @ key[0] - of_rows).exp()
            asking = (query[self._needles.asking] @ key.T - of_rows[self._needles.asking, None]).exp()
            asked = asking[torch.arange(len(asking)), targets]
            shares = torch.stack([first.mean(), _near(query, key, of_rows).mean()])
            self.values[0, number, head] = torch.cat([shares, asked.flatten()])
        return outputs

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """The shares, and the attention to needles as `NeedleTargets` keeps it."""
        shares, asked = np.split(super().result(), [len(SHARES)], axis=-1)
        return shares, asked.reshape(*asked.shape[:3], *self._shape)


def _near(query: Tensor, key: Tensor, of_rows: Tensor) -> Tensor:
    """Of each row, the attention to the last `_NEAR` tokens and itself, without the first token."""
    blocks = query.unflatten(0, (-1, _NEAR))
    own = key.unflatten(0, (-1, _NEAR))
    before = torch.cat([torch.zeros_like(own[:1]), own[:-1]])
    scores = blocks @ torch.cat([before, own], 1).transpose(1, 2) - of_rows.unflatten(0, (-1, _NEAR))[..., None]
    back = torch.arange(_NEAR)[:, None] + _NEAR - torch.arange(2 * _NEAR)
    weights = scores.exp_().masked_fill_((back < 0) | (back >= _NEAR), 0)
    weights[0, :, : _NEAR + 1] = 0
    return weights.sum(-1).flatten()


def main() -> None:
    """Measure, write the table of heads, and print what the model copies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", help="results/sources/models/MODEL.json")
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--texts", type=int, default=16)
    parser.add_argument("--documents", help="a text, as of a task of kind text; by default the generated world")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--output", required=True)
    given = parser.parse_args()
    run = ModelOnTask(read_model_record(given.record), task="needles", precision=given.precision)
    seed = derive_seed(_SEED, "measure_detectors")
    documents = None
    if given.documents:
        documents = [" ".join(each.paragraphs) for each in read_documents([given.documents], given.documents)]
    how = {"max_length": run.record.max_length, "seed": seed, "model": run.record.name}
    needles = draw_needles(run.tokenizer, texts=given.texts, context=given.context, documents=documents, **how)
    hidden = []
    hook = run.model.norm.register_forward_hook(lambda module, args, out: hidden.append(out[0, needles.asking]))
    started = time.process_time()
    ((shares, asked),) = read_attention(
        run.model, needles.encoded, [LongRows(needles)], batch_tokens=given.context, what=run.what
    )
    hook.remove()
    seconds = (time.process_time() - started) / given.texts
    logits = torch.stack(hidden).float() @ run.model.get_input_embeddings().weight.detach().float().T
    ids = np.array(needles.encoded.input_ids)
    values = torch.from_numpy(np.take_along_axis(ids, needles.targets[:, 0], axis=1))
    copied = (logits.argmax(-1) == values).float()
    losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), values.flatten(), reduction="none").view_as(copied)
    print(f"{given.context} tokens, {given.texts} texts: {seconds:.1f} s of processor time for each, "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB")  # fmt: skip
    print(f"copied: {100 * copied.mean():.1f} %, first tokens {100 * copied[:, 0].mean():.1f} %; loss "
          f"{losses.mean():.2f}, first {losses[:, 0].mean():.2f}; by text: {copied.sum(1).int().tolist()}")  # fmt: skip
    distances = len(ids[0]) - needles.targets[:, 0, 0]
    print("tokens back to the needle:", distances.tolist())
    write_table(given.output, shares, asked)


def write_table(path: str, shares: np.ndarray, asked: np.ndarray) -> None:
    """Write a row for each head (both numbers from 0): its shares, and its scores by both detectors of needles.

    On so many texts `above`, a score is above that of the strongest other needle by more than 0.1; detected are heads
    by a sign test, corrected for all heads and both detectors.
    """
    of = {"retrieval": asked.mean(-1), "lookup": asked[..., 0]}
    scores = scores_of({name: (values[..., 0], values[..., 1:].max(-1)) for name, values in of.items()})
    table = detector_table(scores, least=0.1, seed=_SEED)
    rows = table[table["detector"] == "retrieval"][["layer", "head"]].reset_index(drop=True)
    for column, values in zip(SHARES, shares.mean(0).reshape(-1, len(SHARES)).T, strict=True):
        rows[column] = values
    for name in of:
        of_name = table[table["detector"] == name].reset_index(drop=True)
        for column in ("score", "null", "low", "high", "above", "detected"):
            rows[f"{name}_{column}"] = of_name[column]
    rows.to_csv(path, index=False, float_format="%.6g")
    print("heads with a sink in each text:", (shares[..., 0] > 0.5).sum((1, 2)).tolist())
    print("detected:", rows[["retrieval_detected", "lookup_detected"]].sum().to_dict())


if __name__ == "__main__":
    main()
