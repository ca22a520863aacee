"""Mean outputs of heads, which the operation `mean` puts in place of the outputs themselves."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from headtypes.analyses.ablation.results import HeadOutputs
from headtypes.attention.batches import Batch
from headtypes.attention.one_pass import ModelOnTask
from headtypes.attention.reducers import Block, Pass, Reducer
from headtypes.core.hdf5_files import write_arrays
from headtypes.data.tasks import Sample, read_records
from headtypes.models.records import ModelRecord, read_model_record


class MeanHeadOutputs(Reducer):
    """A reducer whose result is each head's output averaged over all real tokens: [layer, head, channel] float32.

    Every token counts alike, special ones too.
    """

    reads_attention = False
    fault = "the output of head {} is not finite"

    def begin(self, about: Pass) -> None:
        self._total, self._tokens = 0.0, 0

    def start(self, batch: Batch) -> None:
        self._batch = batch
        self._layers: dict[int, list[Tensor]] = {}

    def add(self, block: Block) -> None:
        sums = [outputs.sum(1, dtype=torch.float64) for outputs in block.outputs]
        self._layers.setdefault(block.layer, []).extend(sums)

    def right(self) -> Bool[Tensor, "1 layer head channel"]:
        """Sum the batch, [layer, head, channel] float64, and mark the sums that are finite."""
        self._sums = torch.stack([torch.stack(of_layer).sum(0) for of_layer in self._layers.values()])
        return self._sums.isfinite()[None]

    def finish(self) -> None:
        self._total = self._total + self._sums.cpu().numpy()
        self._tokens += sum(self._batch.lengths)

    def result(self) -> np.ndarray:
        return (self._total / self._tokens).astype(np.float32)


def measure_head_outputs(samples: list[Sample], record: ModelRecord, *, kind: str, **settings) -> np.ndarray:
    """Run a model over samples and average the output of each head over all of their real tokens.

    kind:    of task, which says how its samples are cut; settings: of `ModelOnTask`.
    returns  [layer, head, channel] float32.
    """
    run = ModelOnTask(record, **settings)
    (means,) = run.read(run.encode(samples, kind), MeanHeadOutputs())
    return means


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    head_outputs = measure_head_outputs(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_arrays(outputs.head_outputs, HeadOutputs(head_outputs), provenance)
