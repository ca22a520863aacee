"""Checkpoints of a fine-tuning: written by the clock, gone on from where they are whole and of the same run."""

import json
import shutil
import time
from pathlib import Path

from transformers import TrainerCallback
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from headtypes.base.files import reach_disk, read_json, write_json


def last_checkpoint(checkpoints: Path, fingerprint: str) -> str | None:
    """The last whole checkpoint of this very run; None, and an empty folder, where there is none.

    Trainer writes trainer_state.json last and removes the checkpoint before only then, so a checkpoint whose
    state can be read is whole.
    """
    plan = checkpoints / "run.json"
    if checkpoints.exists() and (not plan.exists() or read_json(plan) != fingerprint):
        shutil.rmtree(checkpoints)
    write_json(plan, fingerprint)
    whole = []
    for folder in checkpoints.glob(f"{PREFIX_CHECKPOINT_DIR}-*"):
        try:
            whole.append((json.loads((folder / "trainer_state.json").read_text())["global_step"], str(folder)))
        except (FileNotFoundError, json.JSONDecodeError):
            shutil.rmtree(folder)
    return max(whole)[1] if whole else None


class Checkpoints(TrainerCallback):
    """Asks for a checkpoint by the clock rather than by steps, whose length differs from machine to machine."""

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._last = time.monotonic()

    def on_train_begin(self, args, state, control, **kwargs):
        """Start the clock."""
        self._last = time.monotonic()

    def on_step_end(self, args, state, control, **kwargs):
        """Ask for a checkpoint where it is time, but not after the last step."""
        control.should_save = state.global_step < state.max_steps and time.monotonic() - self._last >= self._seconds

    def on_save(self, args, state, control, **kwargs):
        """Wait until the disk has the checkpoint, and start the clock anew."""
        # Else its state, by which it is taken for whole, could outlive a loss of power that its weights do not.
        reach_disk(Path(args.output_dir, f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"))
        self._last = time.monotonic()
