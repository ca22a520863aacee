"""Which functions of ours a job executes, and those among them that the digest of its code does not cover."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from headtypes.planning.code.digest import counts, reached_lines

from tests.support.places import SCRIPTS

_FOLDER = f"{SCRIPTS}/"
# A function, by its file below the folder of scripts, its first line, and its name.
Executed = set[tuple[str, int, str]]


@contextmanager
def executing() -> Iterator[Executed]:
    """Collect the functions that are executed within the block.

    What importing a module executes is left out, since no result depends on it but through names that count; and so is
    what is called by modules that do not count.
    """
    found: Executed = set()
    # By identity, since to compare code is slow; kept, so that no other has the same one.
    seen = {}

    def look(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if id(code) in seen:
            return
        if code.co_filename.startswith(_FOLDER) and code.co_name != "<module>":
            if _is_left_out(frame):
                return
            found.add((code.co_filename.removeprefix(_FOLDER), code.co_firstlineno, code.co_qualname))
        seen[id(code)] = code

    threading.settrace(look)
    sys.settrace(look)
    try:
        yield found
    finally:
        sys.settrace(None)
        threading.settrace(None)


def uncovered(script: Path, executed: Executed) -> list[str]:
    """The functions that a job has executed although an edit of them would not run it again."""
    lines = reached_lines(script)
    return sorted(f"{file}:{line} {name}" for file, line, name in executed if line not in lines.get(file, ()))


def _is_left_out(frame: FrameType | None) -> bool:
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib") or (file.startswith(_FOLDER) and not counts(_module(file))):
            return True
        frame = frame.f_back
    return False


def _module(file: str) -> str:
    return file.removeprefix(_FOLDER).removesuffix(".py").replace("/", ".")
