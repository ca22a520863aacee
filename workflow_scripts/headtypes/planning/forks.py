"""Starts Python in forks of a process that has loaded the libraries: to load them is most of what a short job takes.

`start` gives the path of a program that takes what `python` takes: a script, `-m MODULE` or `-c CODE`, with arguments.
It hands its arguments, environment, working directory and files to a server, of which a fork runs them, and ends as
that one ends. A signal reaches the fork, which is killed where the program is. So does everything that is started by
`sys.executable` in it. The program waits until the server has loaded its libraries, and is plain Python where there is
no server any more. Nothing of ours is loaded beforehand: a fork runs the code that is there when it begins.

    python forks.py FOLDER SOCKET

is the server, which listens at a socket that it inherits, and ends where its input does.
"""

import ast
import atexit
import contextlib
import gc
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
from collections.abc import Iterable, Mapping
from pathlib import Path

# The Hub's libraries read it when they are loaded, so that a program with other values is plain Python.
_READ_AT_IMPORT = "HF_"
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PROGRAM = """#!{python} -IS
import json, os, signal, socket, sys

def plainly():
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])

if {{name: value for name, value in os.environ.items() if name.startswith({prefix!r})}} != {environment!r}:
    plainly()
signals, process = [], None

def pass_on(*given):
    signals.extend(given[:1])
    while process and signals:
        os.kill(process, signals.pop())

connection = socket.socket(socket.AF_UNIX)
try:
    connection.connect({address!r})
except OSError:
    plainly()
for number in {passed_on!r}:
    signal.signal(number, pass_on)
asked = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
asked["asking"] = [os.getpid(), os.getppid()]
try:
    socket.send_fds(connection, [b"."], [0, 1, 2])
    connection.sendall(json.dumps(asked).encode() + b"\\n")
    answers = connection.makefile()
    process = int(answers.readline() or plainly())
except OSError:
    plainly()
pass_on()
status = int(answers.readline() or 1)
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def start(
    files: Iterable[Path] = (),
    modules: Iterable[str] = (),
    within: Iterable[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Start a server that ends with this process, and return the program, which waits until libraries are loaded.

    files:   Python files whose libraries are loaded: those that their imports at the top name.
    modules: further modules to load.
    within:  a command that starts the server elsewhere.
    environment: of the server; by default that of this process.
    """
    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    given = {name: value for name, value in (environment or os.environ).items() if not name.startswith("PYTHON")}
    program = folder / "python"
    read = {name: value for name, value in given.items() if name.startswith(_READ_AT_IMPORT)}
    program.write_text(
        _PROGRAM.format(
            python=sys.executable,
            prefix=_READ_AT_IMPORT,
            passed_on=tuple(map(int, _PASSED_ON)),
            environment=read,
            address=str(folder / "socket"),
        )
    )
    program.chmod(0o755)
    (folder / "load.json").write_text(json.dumps({"files": list(map(str, files)), "modules": list(modules)}))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        listener.listen()
        server = subprocess.Popen(
            [*within, sys.executable, __file__, str(folder), str(listener.fileno())],
            # A fork is given its own number of threads.
            env={**given, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            # The signals of a terminal reach a fork by its program.
            start_new_session=True,
        )
    atexit.register(_end, server, folder)
    return program


def is_program(path: str) -> bool:
    """Whether a path is that of such a program, rather than Python's."""
    return (Path(path).parent / "socket").exists()


def used_by(program: str, process: int) -> dict[str, float]:
    """What the fork of a program uses that this process is, or that it has started.

    returns `process`, its number, and once it has ended `cpu_s`, seconds of processor time, and `rss_mb`, the most
    memory that it held, pages included that it shares with the server; nothing where there is no fork.
    """
    try:
        return json.loads(_used(Path(program).parent, process).read_text())
    except (OSError, ValueError):
        return {}


def _used(folder: Path, process: int) -> Path:
    return folder / f"{process}.json"


def _end(server: subprocess.Popen, folder: Path) -> None:
    server.stdin.close()
    server.wait()
    # Where the server was killed, it is still there.
    shutil.rmtree(folder, ignore_errors=True)


def serve(folder: Path, listener: socket.socket) -> None:
    """Run what is asked for, each in a fork, until nobody can ask any more."""
    _load(**json.loads((folder / "load.json").read_text()))
    gc.collect()
    gc.freeze()
    sys.path.pop(0)
    sys.executable = str(folder / "python")
    with listener:
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if listener not in ready:
                break
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                _answer(connection, folder)
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    shutil.rmtree(folder, ignore_errors=True)


def _load(files: list[str], modules: list[str]) -> None:
    """Import what these files import at their top, but for our own package, and these modules."""
    nodes = [node for file in files for node in ast.parse(Path(file).read_bytes()).body]
    nodes += [ast.Import([ast.alias(module)]) for module in modules]
    imports = (ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    for statement in dict.fromkeys(imports):
        # A library that is missing is missed by who needs it.
        with contextlib.suppress(ImportError):
            if not statement.split()[1].startswith("headtypes"):
                exec(statement, {})


def _answer(connection: socket.socket, folder: Path) -> None:
    """Run what is asked for in a fork, and end with it, or end it where nobody waits for it any more."""
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    asked = json.loads(connection.makefile().readline())
    asking = asked.pop("asking")
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
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
    _note(folder, asking, process=process)
    with contextlib.suppress(BrokenPipeError):  # Nobody waits any more, which the loop notices.
        connection.sendall(f"{process}\n".encode())
    while True:
        ready, _, _ = select.select([connection, ended], [], [])
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            _note(folder, asking, process=process, cpu_s=used.ru_utime + used.ru_stime, rss_mb=used.ru_maxrss / 1024)
            with contextlib.suppress(BrokenPipeError):
                connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os._exit(0)
        if connection in ready:
            os.kill(process, signal.SIGKILL)
            os._exit(0)
        os.read(ended, 1)


def _note(folder: Path, asking: list[int], **used: float) -> None:
    # Nothing is lost but a benchmark's figures.
    with contextlib.suppress(OSError):
        for each in asking:
            _used(folder, each).write_text(json.dumps(used))


def _run(files: list[int], arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    """Do what Python does with these arguments, and return the exit status."""
    status = 0
    try:
        _take_over(files, folder, environment)
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
            runpy.run_path(os.path.abspath(arguments[0]), run_name="__main__")
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


def _take_over(files: list[int], folder: str, environment: dict[str, str]) -> None:
    """Give a fork what belongs to the program; a signal waits until then."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False, errors="backslashreplace")
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    _limit_threads(int(environment.get("OMP_NUM_THREADS", os.cpu_count())))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)


def _limit_threads(threads: int) -> None:
    """What the libraries would have read from the environment when they were loaded."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(threads)
    if pools := sys.modules.get("threadpoolctl"):
        pools.threadpool_limits(threads)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
