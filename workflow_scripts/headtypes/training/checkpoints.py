"""Checkpoints of a fine-tuning run: when they are written, and which one a killed run resumes from."""

import json
import shutil
import time
from pathlib import Path

from transformers import TrainerCallback
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from headtypes.core.files import reach_disk, read_json, write_json


def last_checkpoint(checkpoints: Path, fingerprint: str) -> str | None:
    """The last complete checkpoint of a run; None if there is none.

    checkpoints: the folder; it is emptied if it belongs to another run. fingerprint: of the run.

    Trainer writes trainer_state.json last, and only then removes the previous checkpoint, so a checkpoint whose state
    can be read is complete. Others are removed.
    """
    run = checkpoints / "run.json"
    if checkpoints.exists() and (not run.exists() or read_json(run) != fingerprint):
        shutil.rmtree(checkpoints)
    write_json(run, fingerprint)
    complete = []
    for folder in checkpoints.glob(f"{PREFIX_CHECKPOINT_DIR}-*"):
        try:
            complete.append((json.loads((folder / "trainer_state.json").read_text())["global_step"], str(folder)))
        except (FileNotFoundError, json.JSONDecodeError):
            shutil.rmtree(folder)
    return max(complete)[1] if complete else None


class Checkpoints(TrainerCallback):
    """Requests checkpoints by time rather than by steps, which take longer on some machines than on others."""

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._last = time.monotonic()

    def on_train_begin(self, args, state, control, **kwargs):
        """Start the clock."""
        self._last = time.monotonic()

    def on_step_end(self, args, state, control, **kwargs):
        """Request a checkpoint if one is due, but not after the last step."""
        control.should_save = state.global_step < state.max_steps and time.monotonic() - self._last >= self._seconds

    def on_save(self, args, state, control, **kwargs):
        """Wait until the checkpoint is on the disk, and restart the clock."""
        # Otherwise its state, which marks it as complete, could survive a power failure that its weights do not.
        reach_disk(Path(args.output_dir, f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"))
        self._last = time.monotonic()
