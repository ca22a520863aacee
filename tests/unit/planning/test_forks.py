"""Programs that run in forks of a process which has loaded the libraries do what Python itself does."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from headtypes.planning import forks
from tests.support.places import ROOT
from tests.support.waiting import until

SCRIPTS = ROOT / "workflow_scripts"

# Loaded by nothing else here.
LOADED = "this"
MEASURED = f"import os, sys; print(os.getpid(), {LOADED!r} in sys.modules)"


@pytest.fixture(scope="module")
def program() -> str:
    return str(forks.start(modules=[LOADED]))


def run(*command: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "beside.py").write_text("NAME = __name__\n")
    (folder / "script.py").write_text(
        "import os, sys, beside\nprint(__name__, __file__, sys.argv[1:], beside.NAME, os.getcwd(), input())\n"
        "print(os.environ['OF_THE_JOB'], file=sys.stderr)\n"
    )
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["script.py", "one", "two"],
        ["-m", "script", "one"],
        ["-c", "import sys; print(sys.argv, input())"],
        ["-c", "raise SystemExit('a sentence')"],
        ["-c", "raise SystemExit(3)"],
        ["-c", "import atexit; atexit.register(print, 'at the end')"],
        ["-c", "import threading, time; threading.Thread(target=lambda: (time.sleep(.2), print('late'))).start()"],
        ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"],
        ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
        ["-c", "1 / 0"],
    ],
)
def test_a_program_does_what_python_does(program, folder, arguments):
    options = {"cwd": folder, "input": "given\n", "env": {**os.environ, "OF_THE_JOB": "its own"}}
    ours, plain = run(program, *arguments, **options), run(sys.executable, *arguments, **options)
    assert (ours.stdout, ours.returncode) == (plain.stdout, plain.returncode)
    # A traceback also has the lines of whoever runs the program.
    assert ours.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]


def test_libraries_are_loaded_and_nothing_of_ours(program):
    assert run(program, "-c", MEASURED).stdout.split()[1] == "True"
    ours = "import sys; print([name for name in sys.modules if name.partition('.')[0] == 'headtypes'])"
    assert run(program, "-c", ours).stdout == "[]\n"


def test_libraries_are_those_that_files_import_at_their_top(tmp_path):
    (tmp_path / "one.py").write_text(
        "import this as that\nfrom missing import nothing\nfrom headtypes.core import files\n"
        "def later():\n    import antigravity\n"
    )
    # Where the package is installed, ours could be loaded too.
    program = str(forks.start([tmp_path / "one.py"], within=["env", f"PYTHONPATH={SCRIPTS}"]))
    asked = "import sys; print(*[name in sys.modules for name in ('this', 'antigravity', 'headtypes')])"
    assert run(program, "-c", asked).stdout == "True False False\n"


def test_a_fork_sees_an_edit(program, folder):
    edited = folder / "edited.py"
    for text in ("before", "after"):
        edited.write_text(f"print({text!r})")
        assert run(program, edited).stdout == f"{text}\n"


def test_libraries_that_read_the_environment_are_loaded_anew(program):
    other = run(program, "-c", MEASURED, env={**os.environ, "HF_HUB_OFFLINE": "another value"})
    assert other.stdout.split()[1] == "False"


def test_a_fork_has_the_environment_of_its_program_and_nothing_of_the_servers(program, folder):
    read = {name: value for name, value in os.environ.items() if name.startswith("HF_")}
    environment = {**read, "PYTHONPATH": str(folder), "LC_ALL": "C.UTF-8"}
    code = "import os, beside; print(sorted(os.environ.items()), beside.NAME)"
    ours, plain = (run(python, "-c", code, env=environment).stdout for python in (program, sys.executable))
    assert ours == plain != ""


def test_where_the_server_found_modules_is_not_where_its_forks_do(folder):
    program = str(forks.start(environment={**os.environ, "PYTHONPATH": str(folder)}))
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert run(program, "-c", f"import sys; print({str(folder)!r} in sys.path)", env=without).stdout == "False\n"


def test_a_fork_has_the_threads_of_its_job(program):
    for threads in ("1", "2"):
        asked = "import torch; print(torch.get_num_threads())"
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        assert run(program, "-c", asked, env=environment).stdout.strip() == threads


def test_a_library_that_the_server_has_loaded_with_one_thread_has_those_of_the_job():
    program = str(forks.start(modules=["numpy", "threadpoolctl"]))
    asked = "import threadpoolctl; print(*{each['num_threads'] for each in threadpoolctl.threadpool_info()})"
    for threads in ("1", "2"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        assert run(program, "-c", asked, env=environment).stdout.strip() == threads


def test_a_signal_reaches_the_fork_once(program):
    code = (
        "import time\ntry:\n    print('begun', flush=True); time.sleep(60)\nexcept KeyboardInterrupt: print('stopped')"
    )
    with subprocess.Popen([program, "-c", code], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout.readline() == "begun\n"
        started.send_signal(signal.SIGINT)
        assert started.stdout.read() == "stopped\n"
    assert started.returncode == 0


def alive(process: int) -> bool:
    try:
        # One that has ended and is waited for by nobody is a zombie.
        return "Z" not in Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0]
    except OSError:
        return False


@pytest.fixture
def sleeping(program) -> Iterator[tuple[subprocess.Popen, int]]:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with subprocess.Popen([program, "-c", code], stdout=subprocess.PIPE, text=True) as started:
        yield started, int(started.stdout.readline())
        started.kill()


def test_a_fork_is_killed_where_its_program_is(sleeping):
    started, fork = sleeping
    started.kill()
    until(lambda: not alive(fork))


def test_what_a_fork_uses_is_told_of_its_program(program, sleeping):
    started, fork = sleeping
    until(lambda: forks.used_by(program, started.pid) == {"process": fork})
    code = "import time, os\nwhile time.process_time() < .3: pass\nx = b'.' * (50 << 20); print(os.getppid())"
    busy = subprocess.Popen([program, "-c", code], stdout=subprocess.DEVNULL)
    busy.wait()
    used = forks.used_by(program, busy.pid)
    assert 0.3 <= used["cpu_s"] < 5
    assert used["rss_mb"] > 50
    # A shell that runs it as one of several commands.
    shell = subprocess.Popen(["bash", "-c", f"{program} -c pass; true"])
    shell.wait()
    assert "cpu_s" in forks.used_by(program, shell.pid)


def test_it_is_plain_python_where_the_server_ends_while_it_loads():
    program = str(forks.start(within=["false"]))
    assert forks.is_program(program)
    assert run(program, "-c", MEASURED).stdout.split()[1] == "False"


def test_it_is_plain_python_where_the_server_is_killed():
    program = str(forks.start(modules=[LOADED]))
    assert run(program, "-c", MEASURED).stdout.split()[1] == "True"
    living = [each for each in psutil.Process().children() if each.status() != psutil.STATUS_ZOMBIE]
    (server,) = [each for each in living if str(Path(program).parent) in each.cmdline()]
    server.kill()
    server.wait()
    assert run(program, "-c", MEASURED).stdout.split()[1] == "False"


def test_the_server_ends_with_who_has_started_it():
    code = "from headtypes.planning import forks; print(forks.start(), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True, cwd=SCRIPTS) as started:
        program = started.stdout.readline().strip()
        assert forks.is_program(program)
        started.kill()
    until(lambda: not Path(program).parent.exists())
