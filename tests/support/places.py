"""Where things are: the repository, its scripts, and real data beside it, which may not be there."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "workflow_scripts"
SHARED_DATA = ROOT.parent / "shared" / "data"
