"""From a Snakemake job to plain values: the only place that knows what a job object looks like."""

import json
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO

from headtypes.errors import InputError
from headtypes.provenance import forget, provenance, record


class _Tee:
    """A text stream that also writes to a log, so that a run can be watched and read afterwards."""

    def __init__(self, stream: TextIO, log: TextIO):
        self._streams = (stream, log)

    def write(self, text: str) -> int:
        for stream in self._streams:
            stream.write(text)
            stream.flush()
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


@contextmanager
def job(snakemake: Any) -> Iterator[tuple[Any, dict, Any, dict]]:
    """Yield (inputs, spec, outputs, made) of a job; what is printed meanwhile also goes to the job's log.

    made: what makes the outputs, for formats that can hold it (`headtypes.provenance`); when the job has ended
        well, it stands beside all of them.
    An `InputError` ends the job with its sentence alone; any other error leaves its traceback in the log.
    """
    inputs, outputs, spec = list(snakemake.input), list(snakemake.output), json.loads(snakemake.params.spec)
    log_file = Path(snakemake.log[0])
    log_file.parent.mkdir(parents=True, exist_ok=True)
    with (
        open(log_file, "w", encoding="utf-8") as log,
        redirect_stdout(_Tee(sys.stdout, log)),
        redirect_stderr(_Tee(sys.stderr, log)),
    ):
        try:
            forget(outputs)
            made = provenance(snakemake.rule, dict(snakemake.wildcards.items()), spec, snakemake.params.code, inputs)
            # A copy, since scripts take keys out of it.
            yield snakemake.input, dict(spec), snakemake.output, made
            record(made, inputs, outputs, snakemake.threads)
        except InputError as error:
            print(f"{_title(snakemake.rule, snakemake.wildcards)}: {error}", file=sys.stderr)
            sys.exit(1)
        except Exception:
            traceback.print_exc()
            sys.exit(1)


def warn(made: dict, sentences: Iterable[str]) -> None:
    """Show the user what the result of a job should be read with; made: as `job` yields it."""
    for sentence in sentences:
        print(f"warning: {_title(made['rule'], made['wildcards'].values())}: {sentence}", file=sys.stderr)


def _title(rule: str, wildcards: Iterable) -> str:
    return " ".join([rule, *map(str, wildcards)])
