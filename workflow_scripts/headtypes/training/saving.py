"""A trained model on the disk: whole or absent."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from headtypes.core.files import reach_disk, write_json


def save_model(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    out_folder: Path,
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Write the folder under a temporary name and move it into place whole; beside: further files, as JSON."""
    temporary = out_folder.with_name(f".{out_folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    # In one file, as the rule expects it.
    model.save_pretrained(temporary, max_shard_size="1000TB")
    # Truncation or padding, from an earlier call or from the base's own file, would be saved with the tokenizer.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(temporary)
    for name, contents in (beside or {}).items():
        write_json(temporary / name, contents)
    reach_disk(temporary)
    if out_folder.exists():
        shutil.rmtree(out_folder)
    os.replace(temporary, out_folder)
