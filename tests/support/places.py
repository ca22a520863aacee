"""Where things are: the repository, its scripts, and real data beside it, which may not be there."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "workflow_scripts"
GUAN = ROOT / "reference" / "guan2020.yaml"
SHARED_DATA = ROOT.parent / "shared" / "data"
