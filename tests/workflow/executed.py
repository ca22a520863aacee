"""Which modules of ours a job executes, and those among them that the hash of its code does not cover."""

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from headtypes.planning.code import NOT_COUNTED, covered_files
from tests.support.places import SCRIPTS

_FOLDER = f"{SCRIPTS}/"


@contextmanager
def executing() -> Iterator[set[Path]]:
    """Collect the files whose functions are executed within the block.

    What importing a module executes is left out, since what is imported counts; and so is what is called by modules
    that do not count.
    """
    found: set[Path] = set()
    # By identity, since to compare code is slow; kept, so that no other has the same one.
    seen = {}

    def look(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if id(code) in seen:
            return
        if code.co_filename.startswith(_FOLDER) and code.co_name != "<module>":
            if _is_left_out(frame):
                return
            found.add(Path(code.co_filename))
        seen[id(code)] = code

    threading.settrace(look)
    sys.settrace(look)
    try:
        yield found
    finally:
        sys.settrace(None)
        threading.settrace(None)


def uncovered(script: Path, loaded_by_name: Iterable[str], executed: set[Path]) -> list[str]:
    """The modules that a job has executed although an edit of them would not run it again."""
    return sorted(file.name for file in executed - covered_files(script, loaded_by_name))


def _is_left_out(frame: FrameType | None) -> bool:
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib") or (file.startswith(_FOLDER) and _module(file) in NOT_COUNTED):
            return True
        frame = frame.f_back
    return False


def _module(file: str) -> str:
    return file.removeprefix(_FOLDER).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
