from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "workflow_scripts"
SHARED_DATA = ROOT.parent / "shared" / "data"
