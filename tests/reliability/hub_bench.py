"""Jobs that fetch from a Hub, each in a process of its own, with a cache that may be full or read-only.

    python -m tests.reliability.hub_bench WORKFLOW

is started by `tests.reliability.bench.Bench` with `HF_ENDPOINT` and `HF_HOME` in its environment. What the Hub's
libraries wait between two attempts is shortened, and nothing but the loopback address can be reached.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.reliability.bench import in_a_fork, planned, run_script
from tests.reliability.disks import without_writing

# Bytes of a cache that has room for small files, and not for the weights; for some of a data set's files.
_ROOM = {"fetch_model": 64 * 1024, "fetch_task": 12 * 1024}
_LIBRARIES = ("datasets", "torch", "transformers.models.auto.tokenization_auto", "transformers.models.bert")
_OURS = ("models.architectures", "models.fetching", "models.outline", "data.fetching", "analyses.types.partition_rows")
_RULES = ("fetch_model", "fetch_task", "fetch_training")


@contextlib.contextmanager
def _cache(how: str, home: Path, rule: str) -> Iterator[None]:
    """The folder of the cache as it is while a job runs."""
    if how.startswith("read-only cache"):
        with without_writing(home):
            yield
    elif how == "full cache":
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_ROOM[rule]}", "none", str(home)], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", str(home)], check=True)
    else:
        yield


def _stay_here(event: str, arguments: tuple) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][0] not in ("127.0.0.1", "::1"):
        raise AssertionError(f"a connection to {arguments[1]}")


def _go(job: Any, how: str) -> None:
    from datasets import config
    from huggingface_hub import constants

    sys.addaudithook(_stay_here)
    if how == "offline":
        constants.HF_HUB_OFFLINE = config.HF_HUB_OFFLINE = config.HF_DATASETS_OFFLINE = True
    if how == "impatient":
        constants.HF_HUB_DOWNLOAD_TIMEOUT = constants.HF_HUB_ETAG_TIMEOUT = 0.3
    if how == "read-only cache, data elsewhere":
        config.HF_DATASETS_CACHE = Path("datasets").absolute()
    run_script(job)


def serve(workflow: Path, requests: Iterable[str]) -> None:
    """Plan the jobs, then run those that are asked for: one line of JSON each way."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    jobs = {name: job for name, job in planned(workflow, ways=(1,)).items() if job.rule.name in _RULES}
    for library in (*_LIBRARIES, *(f"headtypes.{module}" for module in _OURS)):
        importlib.import_module(library)
    import huggingface_hub.file_download

    huggingface_hub.file_download._ETAG_RETRY_TIMEOUT = 0.3
    wait = time.sleep
    time.sleep = lambda seconds: wait(min(seconds, 0.001))
    home = Path(os.environ["HF_HOME"])
    home.mkdir(exist_ok=True)
    print(json.dumps({name: {"outputs": list(job.output)} for name, job in jobs.items()}), file=answers)
    for request in requests:
        how, name, folder = json.loads(request)
        try:
            with _cache(how, home, jobs[name].rule.name):
                answer = in_a_fork(folder, lambda: _go(jobs[name], how))  # noqa: B023
        except Exception as error:
            answer = {"failed": repr(error)}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.stdin)
