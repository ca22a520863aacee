"""Mistakes that break the contract, each planted in a copy of the workflow, and caught by a check or by the tables."""

import re
from pathlib import Path

import pytest
from headtypes.planning.code.digest import reached_modules
from headtypes.planning.code.packages import NUMERIC_PACKAGES

from tests.contract import checks
from tests.contract.imports import loaded_modules
from tests.contract.tables import by_reason, leaf_paths, leaf_rows, observed, with_leaf
from tests.support.configs import edited
from tests.support.workplace import Workplace

RULES = "rules/types.smk"
IDENTITY = r'\*\*identity\("cluster_heads"\),'
BEFORE = rf"(?=params:\s+{IDENTITY})"
WHOLE = r"(?s)use rule job as cluster_heads with:.*?(?=\n\n\n)"
CLUSTER = "workflow_scripts/cluster_heads.py"
NAMING = "workflow_scripts/headtypes/analyses/types/naming.py"
STABILITY = "workflow_scripts/headtypes/analyses/types/stability.py"
WORKFLOW = "workflow_scripts/headtypes/planning/job.py"
SPECS = "workflow_scripts/headtypes/analyses/types/stage.py"
RESTARTS = r'"restarts": clustering\.restarts,'
END = r"\Z"


def with_own(execution: str) -> str:
    """The rule as one that does not run a script."""
    return f"rule cluster_heads:\n    output:\n        paths.PARTITION,\n    {execution}"


def plant(place: Workplace, file: str, pattern: str, replacement: str) -> None:
    """Replace the first match of a pattern in a file, and nothing else."""
    text, found = re.subn(pattern, lambda _: replacement, place.text(file), count=1)
    assert found == 1, f"{file} has no {pattern}"
    place.write({file: text})


def packages(root: Path) -> list[str]:
    return checks.packages(root, NUMERIC_PACKAGES)


# What is done where, the check that finds it, and its words.
SEEN = {
    "an import by a name that is made at run time": (
        (NAMING, END, 'import importlib\nimportlib.import_module("headtypes.data.fetching")\n'),
        (checks.modules, "importlib.import_module imports or runs what no digest follows"),
    ),
    "the same under another name": (
        (NAMING, END, "from importlib import import_module as load\n"),
        (checks.modules, "imports by a name that is made at run time"),
    ),
    "a relative import": ((NAMING, END, "from . import tasks\n"), (checks.modules, "a relative import")),
    "modules from elsewhere": (
        (CLUSTER, END, 'import sys\nsys.path.insert(0, "elsewhere")\n'),
        (checks.modules, "changes where modules are found"),
    ),
    "a package whose version does not count": (
        (NAMING, END, "import snowballstemmer\n"),
        (packages, "imports snowballstemmer, whose version no digest covers"),
    ),
    "a script that reads snakemake.config": (
        (CLUSTER, END, 'print(snakemake.config["seed"])\n'),
        (checks.scripts, "uses snakemake besides handing it to job"),
    ),
    "a module that reads snakemake.config": (
        (WORKFLOW, END, "def _seed(snakemake):\n    return snakemake.config\n"),
        (checks.modules, "reads snakemake.config"),
    ),
    "a script that reads the configuration's file": (
        (CLUSTER, END, 'import yaml\nyaml.safe_load(open("config.yaml"))\n'),
        (checks.modules, "names the configuration's file"),
    ),
    "a module that reads the environment": (
        (NAMING, END, 'import os\nSEED = os.environ["SEED"]\n'),
        (checks.modules, "reads os.environ"),
    ),
    "a rule that reads the configuration": (
        (RULES, BEFORE, 'threads: config["stability"]["models"]\n    '),
        (checks.snakefiles, "types.smk:16: reads the configuration"),
    ),
    "a rule that reads it from the plan": (
        (RULES, BEFORE, "threads: plan.config.stability.models\n    "),
        (checks.snakefiles, "types.smk:16: reads the configuration"),
    ),
    "a shell line that formats the configuration": (
        (RULES, WHOLE, with_own('shell:\n        "echo {config[seed]} > {output}"')),
        (checks.snakefiles, "reads the configuration"),
    ),
    "a shell line": (
        (RULES, WHOLE, with_own('shell:\n        "touch {output}"')),
        (checks.rules, "cluster_heads: has shell instead of a script"),
    ),
    "a rule with run": (
        (RULES, WHOLE, with_own("run:\n        open(output[0])")),
        (checks.rules, "cluster_heads: has run instead of a script"),
    ),
    "the script of another rule": (
        (RULES, IDENTITY, '**(identity("cluster_heads") | {"script": "measure_stability"}),'),
        (checks.rules, "cluster_heads: runs ../workflow_scripts/measure_stability.py"),
    ),
    "a third parameter": (
        (RULES, IDENTITY, '**identity("cluster_heads"),\n        restarts=50,'),
        (checks.rules, "cluster_heads: has the parameters script, stage, spec(wildcards), code(wildcards), restarts"),
    ),
    "a parameter without a name": (
        (RULES, IDENTITY, '7,\n        **identity("cluster_heads"),'),
        (checks.rules, "cluster_heads: has the parameters one without a name, script, stage, spec(wildcards), code"),
    ),
    "a parameter function that takes input": (
        (RULES, IDENTITY, '**(identity("cluster_heads") | {"spec": lambda wildcards, input: str(input)}),'),
        (checks.rules, "cluster_heads: has the parameters script, stage, spec(wildcards, input), code"),
    ),
    "a parameter function that takes output": (
        (RULES, IDENTITY, '**(identity("cluster_heads") | {"spec": lambda wildcards, output: str(output)}),'),
        (checks.rules, "cluster_heads: has the parameters script, stage, spec(wildcards, output), code"),
    ),
    "a set as parameter": (
        (RULES, IDENTITY, '**(identity("cluster_heads") | {"spec": lambda wildcards: {"k", "bins"}}),'),
        (checks.parameters, "cluster_heads: the parameter spec is a set"),
    ),
    "a path as parameter": (
        (RULES, IDENTITY, '**(identity("cluster_heads") | {"code": Path("cluster_heads.py")}),'),
        (checks.parameters, "cluster_heads: the parameter code is a PosixPath"),
    ),
    "a spec in the order of a set": (
        (SPECS, RESTARTS, '"restarts": clustering.restarts, "order": list(set("some letters")),'),
        (checks.order, "cluster_heads: another start of Python gives it other parameters"),
    ),
}


@pytest.mark.parametrize("mistake", SEEN)
def test_a_check_finds_it(repository, mistake):
    where, (check, words) = SEEN[mistake]
    plant(repository, *where)
    found = check(repository.folder)
    assert any(words in sentence for sentence in found), found


def test_data_beside_the_modules_are_found(repository):
    repository.write({"workflow_scripts/headtypes/words.json": "[]"})
    assert checks.files(repository.folder) == ["headtypes/words.json: is not Python, and no digest covers it"]


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory) -> Workplace:
    """A finished working directory with three mistakes that only the tables can find."""
    place = Workplace.copied(tmp_path_factory.mktemp("mistaken"))
    # A spec that leaves out one value that the script uses, and holds one that it does not.
    plant(place, SPECS, RESTARTS, '"models": plan.config.stability.models,')
    # An import that the digest does not follow.
    plant(place, STABILITY, END, 'import importlib\nimportlib.import_module("headtypes.comparisons.models.descent")\n')
    return place.finish()


def changed_specs(place: Workplace, leaf: str) -> dict:
    """The jobs whose spec changes, in a place, with a leaf of its configuration."""
    with place.configured(with_leaf(place.config, place.folder / "inputs", leaf, leaf_rows()[leaf]["value"])):
        return by_reason(observed(place), named=True)["spec"]


def test_a_spec_that_leaves_out_what_the_script_uses_is_not_as_promised(mistaken):
    others = {"choose_clustering": 9}
    expected = {"cluster_heads": 10, "measure_stability": 10, "measure_confidence": 10, **others}
    assert leaf_rows()["clustering/restarts"]["spec"] == expected
    assert changed_specs(mistaken, "clustering/restarts") == others


def test_a_spec_with_more_than_the_script_uses_is_not_as_promised(mistaken):
    expected = {"measure_stability": 10, "choose_clustering": 9, "compare_with_paper guan2020": 1}
    assert leaf_rows()["stability/models"]["spec"] == expected
    assert changed_specs(mistaken, "stability/models") == {"cluster_heads": 10, "measure_confidence": 10, **expected}


def test_an_import_that_no_digest_follows_is_one_that_python_makes(mistaken):
    """An import inside of a function, which Python makes when it is called, is followed like any other."""
    scripts = mistaken.folder / "workflow_scripts"
    naming = mistaken.folder / NAMING
    naming.write_text(naming.read_text() + "\n\ndef _late():\n    from headtypes.core import progress\n")
    loaded, unseen = loaded_modules(scripts), "headtypes/comparisons/models/descent.py"
    assert unseen in loaded["measure_stability"] - reached_modules(scripts / "measure_stability.py")
    assert reached_modules(scripts / "cluster_heads.py") <= loaded["cluster_heads"]
    assert "headtypes/core/progress.py" in loaded["import_partition"]


def test_a_leaf_without_a_row_is_missed(mistaken):
    """As `test_edits.test_every_leaf_has_a_row` misses it."""
    config = edited(mistaken.config, "compute/added", 1)
    assert "compute/added" in set(leaf_paths(config)) - leaf_rows().keys()
