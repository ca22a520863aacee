"""A Python that has its libraries loaded already: most of what a start of Snakemake or of a job takes is to load them.

`python()` is the path of a program that takes what `python` takes: a script, `-m MODULE` or `-c CODE`, with arguments.
It hands its arguments, environment, working directory and files to a server, of which a fork runs them, and ends as
that one ends. A signal reaches the fork, and it is killed where the program is. So does everything that is started by
`sys.executable` in it, such as the jobs of Snakemake. Nothing of ours is loaded beforehand.

    python tests/support/warm.py FOLDER

is the server; it ends with the process that has started it.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

# What jobs load.
LIBRARIES = (
    "datasets",
    "h5py",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "pandas",
    "scipy.optimize",
    "sentencex",
    "sklearn.cluster",
    "sklearn.manifold",
    "sklearn.mixture",
    "torch",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.trainer",
)
# What Snakemake and our commands load, some of it by the way.
OF_SNAKEMAKE = (
    "jaxtyping",
    "pydantic",
    "requests",
    "smart_open",
    "snakemake.cli",
    "snakemake.executors.dryrun",
    "snakemake.executors.local",
    "snakemake.executors.touch",
    "snakemake.report.html_reporter",
    "snakemake.script",
    "snakemake.storage",
    "snakemake.workflow",
    "yaml",
)
# Libraries read it when they are loaded.
OFFLINE = {"HF_HUB_OFFLINE": "1"}
_PROGRAM = """#!{python} -IS
import json, os, signal, socket, sys

if {{name: value for name, value in os.environ.items() if name.startswith("HF_")}} != {offline}:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
asked = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
socket.send_fds(connection, [b"."], [0, 1, 2])
connection.sendall(json.dumps(asked).encode() + b"\\n")
answers = connection.makefile()
process = int(answers.readline())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(process, number))
status = int(answers.readline())
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@cache
def python(*within: str) -> str:
    """The program; the first call starts the server of this process; within: a command that starts it elsewhere."""
    # A socket's path is limited to some 100 characters, which those of pytest can exceed.
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))}
    server = subprocess.Popen(
        [*within, sys.executable, __file__, str(folder)],
        env={**environment, **OFFLINE, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(_end, server)
    assert server.stdout.readline() == b"ready\n"
    return str(folder / "python")


def _end(server: subprocess.Popen) -> None:
    server.stdin.close()
    server.wait()


def serve(folder: Path) -> None:
    """Run what is asked for, each in a fork, until nobody can ask any more."""
    address = str(folder / "socket")
    program = folder / "python"
    program.write_text(_PROGRAM.format(python=sys.executable, address=address, offline=OFFLINE))
    program.chmod(0o755)
    for library in (*LIBRARIES, *OF_SNAKEMAKE):
        importlib.import_module(library)
    gc.collect()
    gc.freeze()
    sys.path.pop(0)
    sys.executable = str(program)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        os.write(1, b"ready\n")
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if listener not in ready:
                break
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                _answer(connection)
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    shutil.rmtree(folder)


def _answer(connection: socket.socket) -> None:
    """Run what is asked for in a fork, and end with it, or end it where nobody waits for it any more."""
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    asked = json.loads(connection.makefile().readline())
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    process = os.fork()
    if not process:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for file in (ended, wake):
            os.close(file)
        connection.close()
        os._exit(_run(files, **asked))
    for file in files:
        os.close(file)
    with contextlib.suppress(BrokenPipeError):  # Nobody waits any more, which the loop notices.
        connection.sendall(f"{process}\n".encode())
    while True:
        ready, _, _ = select.select([connection, ended], [], [])
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            with contextlib.suppress(BrokenPipeError):
                connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os._exit(0)
        if connection in ready:
            os.kill(process, signal.SIGKILL)
            os._exit(0)
        os.read(ended, 1)


def _run(files: list[int], arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    """Do what Python does with these arguments, and return the exit status."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False, errors="backslashreplace")
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    _limit_threads(int(environment.get("OMP_NUM_THREADS", os.cpu_count())))
    status = 0
    try:
        sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
        if arguments[0] == "-m":
            sys.argv[:] = arguments[1:]
            sys.path.insert(0, folder)
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        elif arguments[0] == "-c":
            sys.argv[:] = ["-c", *arguments[2:]]
            sys.path.insert(0, "")
            exec(compile(arguments[1], "<string>", "exec"), sys.modules["__main__"].__dict__)
        else:
            sys.argv[:] = arguments
            sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    # As at the end of Python.
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return status


def _limit_threads(threads: int) -> None:
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(threads)
    threadpool_limits(threads)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
