from tests.support.commands import run
from tests.support.places import ROOT


def test_the_script_writes_the_files_of_the_demo(tmp_path):
    run([ROOT / "demo/generate.py", tmp_path])
    kept = {file.name: file.read_bytes() for file in (ROOT / "demo").glob("*.*") if file.suffix != ".py"}
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == kept
