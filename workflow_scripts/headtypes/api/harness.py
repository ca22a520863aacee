"""The Language Model Evaluation Harness on a model whose heads are ablated: its model type `headtypes`.

python -m headtypes.api.harness --model headtypes --model_args 'pretrained=FOLDER,ablate={"1-1": "zero"}' --tasks TASK

The command is the harness's own. It imports no model types of others, so that it is called through this module, and
a program of one's own imports the module before it calls the harness.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.registry import register_model
from lm_eval.models.huggingface import HFLM
from transformers import PreTrainedModel

from headtypes.analyses.ablation.results import read_head_outputs
from headtypes.analyses.types.partitions import read_partition
from headtypes.api.ablation import ablated
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath


@register_model("headtypes")
class AblatedLM(HFLM):
    """The harness's `hf`, with heads ablated as long as it exists."""

    def __init__(
        self,
        pretrained: str | PreTrainedModel,
        ablate: Mapping[str, str],
        partition: StrPath | None = None,
        head_outputs: StrPath | None = None,
        **of_harness: Any,
    ):
        """Load the model as `hf` does, and ablate its heads.

        ablate:       {target: operation}, as in `ablated`.
        partition, head_outputs: the files of these, as the workflow writes them, where an operation needs them.
        of_harness:   the arguments of `hf`.
        Raises `InputError` as `ablated` does, and where ablate is no mapping.
        """
        if not isinstance(ablate, Mapping):
            raise InputError(f'ablate: name an operation for each target, as in {{"1-1": "zero"}}; found {ablate!r}.')
        super().__init__(pretrained, **of_harness)
        # Kept, since the block would be left with the last reference to it.
        self._ablation = ExitStack()
        self._ablation.enter_context(
            ablated(
                self.model,
                ablate,
                partition=partition and read_partition(partition),
                head_outputs=read_head_outputs(head_outputs),
            )
        )


if __name__ == "__main__":
    cli_evaluate()
