"""How much the loss depends on each head: the gradient-based importance of Michel et al. 2019."""

from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from headtypes.attention.batches import Batch, check_heads, run_model
from headtypes.attention.hook import Layer
from headtypes.core.heads import per_head
from headtypes.core.table_files import write_csv
from headtypes.data.answering import AnswerLoss, load_for
from headtypes.data.kinds.registry import KINDS, read_rows
from headtypes.data.windows import Windows, read_windows
from headtypes.models.records import ModelRecord, read_model_record


class HeadGates:
    """The hook of a batch: multiplies each head's output by a variable that is one, for the gradients of a mask.

    gates: after the run, a variable [sample, head] for each layer.
    """

    def __init__(self):
        self.gates: list[Tensor] = []

    def __call__(self, number: int, layer: Layer) -> Tensor:
        """The head outputs of a layer, through their gates: [sample, head, query, channel]."""
        outputs = layer.head_outputs()
        self.gates.append(torch.ones_like(outputs[:, :, 0, 0], requires_grad=True))
        return outputs * self.gates[-1][:, :, None, None]


def measure_importance(
    rows: list, windows: Windows, record: ModelRecord, *, kind: str, precision: str, batch_tokens: int
) -> pd.DataFrame:
    """The gradient-based importance of every head of a model on the task that it answers.

    rows, windows: questions with the positions of their answers, pairs with their labels, documents, or questions with
        choices; and their windows. record: the model; it needs the task's head.
    kind: of the task. The loss is the mean of the cross entropies of its targets: start and end of a question's first
        answer, on the windows that hold the whole of it; or the label; or the tokens of a segment, or of the right
        choice, that a language model is to predict.
    returns layer, head (from 0), importance and normalised (`normalise`), one row per head.
    """
    model = load_for(record, precision, kind)
    targets = KINDS[kind].answer_targets(rows, windows, record)
    importance = head_importance(model, kind, windows, targets, batch_tokens, f"{record.name}, importance of heads")
    columns = {"importance": importance.reshape(-1), "normalised": normalise(importance).reshape(-1)}
    return per_head(importance.shape, columns)


def head_importance(
    model: torch.nn.Module, kind: str, windows: Windows, targets: np.ndarray, batch_tokens: int, what: str
) -> np.ndarray:
    """The mean over a task's questions of |dL/dxi| of each head's mask variable xi: [layer, head] float64.

    Michel et al. 2019, section 4.1, equation 2, the absolute value being that of a whole sample. (Their code for BERT
    takes it of each token's share and divides by the tokens.) The windows of one question, or document, count as one.
    targets: [window, softmax] int, the correct class of each softmax of the task: start and end token, or the label;
        negative if the window is left out. Windows with targets of their own have the mean loss of these.
    """
    answers = AnswerLoss(kind, windows, targets, what)
    chosen = answers.windows
    _, question, windows_of = np.unique(windows.question[chosen], return_inverse=True, return_counts=True)
    weight = 1 / (len(windows_of) * windows_of[question])
    ids, types, _ = (of and [of[window] for window in chosen] for of in windows.texts)
    # Only the gates need gradients; without those of the weights, less has to be kept.
    model.requires_grad_(False)
    total = 0.0

    def gates(batch: Batch) -> HeadGates:
        answers.start(batch.samples)
        return HeadGates()

    def add_gradients(batch: Batch, gated: HeadGates, output) -> None:
        nonlocal total
        loss = answers.losses(output, batch.inputs)
        # A sample's gates affect no other sample's loss, so one backward pass gives the gradients of every sample.
        gradients = torch.stack(torch.autograd.grad(loss.sum(), gated.gates))
        total = total + (gradients.double().abs().cpu().numpy() * weight[batch.samples, None]).sum(1)

    with answers.attached(model):
        run_model(
            model,
            ids,
            types,
            hook=gates,
            finish=add_gradients,
            batch_tokens=answers.batch_tokens(batch_tokens, model.config.vocab_size),
            what=what,
            unit="windows",
            gradients=True,
        )
    check_heads(torch.from_numpy(total[None]).isfinite(), what, "the gradient of head {} is not finite")
    return total


def normalise(importance: np.ndarray) -> np.ndarray:
    """Importance [layer, head], of each layer with norm one (Michel et al. 2019, section 4.1), or zeros as they are."""
    norm = np.linalg.norm(importance, axis=1, keepdims=True)
    return np.divide(importance, norm, out=np.zeros_like(importance), where=norm > 0)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `measure_importance`."""
    questions, windows = read_rows(inputs.questions, spec["kind"]), read_windows(inputs.windows)
    write_csv(outputs.importance, measure_importance(questions, windows, read_model_record(inputs.model), **spec))
