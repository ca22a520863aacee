"""One GPU for each process, told with locks alone: no GPU is needed."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from headtypes.models import gpus
from headtypes.models.gpus import keep_to_gpus, take_gpu, visible_gpus


@pytest.mark.parametrize(
    ("named", "nodes", "expected"),
    [
        (None, 0, []),
        (None, 3, ["0", "1", "2"]),
        ("2,0", 4, ["2", "0"]),
        ("GPU-8f2c, MIG-51", 8, ["GPU-8f2c", "MIG-51"]),
        ("0,0,1", 2, ["0", "0", "1"]),
        ("", 2, []),
        ("-1", 2, []),
        ("1,-1,0", 2, ["1"]),
        ("NoDevFiles", 2, []),
    ],
)
def test_the_gpus_that_cuda_would_show(named, nodes, expected):
    assert visible_gpus(named, nodes) == expected


def test_no_two_hold_a_gpu_and_the_next_gets_that_of_one_that_has_ended(tmp_path, capsys):
    """Locks are of open files, so that one process tells as much as several."""
    (one, _), (other, lock) = (take_gpu(["0", "1"], tmp_path) for _ in range(2))
    assert {one, other} == {"0", "1"}
    with ThreadPoolExecutor(1) as waiting:
        third = waiting.submit(take_gpu, ["0", "1"], tmp_path)
        time.sleep(1.2)
        assert not third.done()
        assert capsys.readouterr().err == "All GPUs (0, 1) are taken by other jobs; waiting for one.\n"
        lock.close()
        assert third.result()[0] == other


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with some GPUs, of which a scheduler may have chosen some."""

    def made(nodes: int, named: str | None = None):
        paths = [tmp_path / f"nvidia{number}" for number in range(nodes)]
        for path in paths:
            path.touch()
        monkeypatch.setattr(gpus, "_nodes", lambda: paths)
        monkeypatch.setattr(gpus.tempfile, "gettempdir", lambda: str(tmp_path))
        monkeypatch.delenv(gpus.VISIBLE, raising=False)
        if named is not None:
            monkeypatch.setenv(gpus.VISIBLE, named)
        keep_to_gpus.cache_clear()

    yield made
    keep_to_gpus.cache_clear()


@pytest.mark.parametrize(("number", "taken"), [(1, "0"), (2, "0,1")])
def test_a_process_sees_the_gpus_that_it_has_taken_and_another_takes_the_next(machine, tmp_path, number, taken):
    machine(3)
    # A second model in the same process stays where the first is.
    for _ in range(2):
        keep_to_gpus(number)
        assert gpus.os.environ[gpus.VISIBLE] == taken
    (folder,) = tmp_path.glob("headtypes-gpus-*")
    assert take_gpu(["0", "1", "2"], folder)[0] == str(number)


@pytest.mark.parametrize(("nodes", "named"), [(2, "0"), (2, "GPU-8f2c"), (2, ""), (0, None)])
def test_what_a_scheduler_has_chosen_stays_and_is_not_waited_for(machine, tmp_path, nodes, named):
    """Two jobs of a cluster on one node may see each its own GPU under the same name."""
    machine(nodes, named)
    assert keep_to_gpus(1) == []
    assert gpus.os.environ.get(gpus.VISIBLE) == named
    assert not list(tmp_path.glob("headtypes-gpus-*"))
