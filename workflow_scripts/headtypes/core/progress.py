"""Messages of a running job: progress with an estimate of the time left, and warnings; and the log of all this."""

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from tqdm import tqdm


class _Lines(tqdm):
    def display(self, msg=None, pos=None):
        if self.n:
            print(msg or str(self), file=sys.stderr)


def progress(total: int, what: str, unit: str) -> tqdm:
    """Return a progress bar that prints a line on standard error every ten seconds and at the end.

    total: number of units of work; unit: plural name of the units, such as samples; what: text at the line's beginning.
    """
    form = "{desc}: {n_fmt}/{total_fmt} {unit}, {elapsed} elapsed, {remaining} left"
    # `display` prints the lines; all that tqdm would write itself is an empty line at the end, which is discarded.
    settings = {"mininterval": 10, "maxinterval": 20, "bar_format": form, "file": io.StringIO()}
    return _Lines(total=total, desc=what, unit=unit, **settings)


def warn(provenance: dict, sentences: Iterable[str]) -> None:
    """Print `warning: RULE WILDCARDS: SENTENCE` on standard error, for each sentence; `provenance` names the rule."""
    for sentence in sentences:
        print(f"warning: {title_of(provenance['rule'], provenance['wildcards'].values())}: {sentence}", file=sys.stderr)


def title_of(rule: str, wildcards: Iterable) -> str:
    return " ".join([rule, *map(str, wildcards)])


class _Tee(io.TextIOBase):
    def __init__(self, stream: TextIO, log: BinaryIO):
        self._stream, self._log = stream, log

    def write(self, text: str) -> int:
        self._stream.write(text)
        self._stream.flush()
        # Where the disk is full, the text has at least been shown.
        with suppress(OSError):
            self._log.write(text.encode())
        return len(text)


@contextmanager
def logged(path: str) -> Iterator[None]:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # Unbuffered: nothing is left over to fail when the log is closed.
    with (
        open(path, "wb", buffering=0) as log,
        redirect_stdout(_Tee(sys.stdout, log)),
        redirect_stderr(_Tee(sys.stderr, log)),
    ):
        yield
