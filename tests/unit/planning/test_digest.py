"""The digest of a rule's code: changes with what the code means, and with nothing else."""

from pathlib import Path

import pytest

from headtypes.planning import digest, packages
from headtypes.planning.digest import code_digest, reached_modules
from tests.support.places import SCRIPTS


@pytest.fixture
def code(tmp_path):
    """A script that imports tools.used, which imports tools.deep; tools.unused is imported by nothing."""
    files = {
        "script.py": "from tools.used import work\n\nwith job() as (inputs, outputs):\n    work(inputs)\n",
        "tools/__init__.py": "",
        "tools/used.py": '"""Docs."""\n\nfrom tools import deep\n\ndef work(x):\n    """D."""\n    return deep.N * x\n',
        "tools/deep.py": "N = 3\n",
        "tools/unused.py": "M = 4\n",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def digest_of(code: Path, **changes: str) -> str:
    """The digest of the script after files, named with `__` for the slash, have another text."""
    for name, text in changes.items():
        (code / f"{name.replace('__', '/', 1)}.py").write_text(text)
    digest._meaning.cache_clear()
    digest._imports.cache_clear()
    return code_digest(code / "script.py")


@pytest.mark.parametrize(
    "text",
    [
        "from tools import deep\ndef work(x):\n  return deep.N*x",
        '"""Others."""\nfrom tools import deep  # why\ndef work(x):\n    "Not the same."\n    return (deep.N * x)\n',
        'from tools import deep\n\ndef work(x):\n\n    # why\n\n    return deep.N * \\\n        x\n"a string"\n',
    ],
)
def test_comments_docstrings_and_formatting_do_not_count(code, text):
    assert digest_of(code) == digest_of(code, tools__used=text)


def test_a_touched_file_does_not_count(code):
    before = digest_of(code)
    (code / "tools/used.py").touch()
    assert digest_of(code) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("script", "from tools.used import work\n\nwith job() as (inputs, outputs):\n    work(outputs)\n"),
        ("tools__used", "from tools import deep\n\n\ndef work(x):\n    return deep.N + x\n"),
        ("tools__deep", "N = 4\n"),
        ("tools____init__", "import os\n"),
    ],
)
def test_what_is_imported_counts_however_far_away(code, name, text):
    assert digest_of(code) != digest_of(code, **{name: text})


@pytest.mark.parametrize("name", ["tools__unused", "other_script"])
def test_what_is_not_imported_does_not_count(code, name):
    assert digest_of(code) == digest_of(code, **{name: "M = 5\n"})


@pytest.mark.parametrize(
    "statement",
    [
        "import tools.unused",
        "import tools.unused as it",
        "from tools import unused",
        "from tools.unused import M",
        "from tools.unused import *",
        "def late():\n    from tools.unused import M",
        "try:\n    import tools.unused\nexcept ImportError:\n    pass",
    ],
)
def test_every_form_of_import_is_followed(code, statement):
    digest_of(code, tools__deep=f"{statement}\nN = 3\n")
    expected = {"script.py", "tools/__init__.py", "tools/used.py", "tools/deep.py", "tools/unused.py"}
    assert reached_modules(code / "script.py") == expected


def test_modules_that_import_each_other_are_followed_once(code):
    digest_of(code, tools__deep="import tools.used\nN = 3\n")
    assert "tools/deep.py" in reached_modules(code / "script.py")


def test_relative_imports_are_refused(code):
    with pytest.raises(ValueError, match=r"used\.py:1: relative imports are not followed"):
        digest_of(code, tools__used="from . import deep\n")


def test_the_version_of_an_imported_package_counts_and_its_build_does_not(code, monkeypatch):
    versions = {"torch": "2.0", "numpy": "1.0", "scikit-learn": "1.0", "scipy": "1.0", "pydantic": "1.0"}
    digest_of(code, tools__deep="import torch\nfrom sklearn.cluster import KMeans\nimport pydantic\nN = 3\n")

    def with_versions(**others) -> str:
        packages.version.cache_clear()
        monkeypatch.setattr(packages.importlib.metadata, "version", {**versions, **others}.__getitem__)
        return digest_of(code)

    first = with_versions()
    assert with_versions(torch="2.1") != first
    assert with_versions(scipy="1.1") != first
    assert with_versions(torch="2.0+cu130") == first
    assert with_versions(pydantic="2.0") == first
    monkeypatch.undo()
    packages.version.cache_clear()


def test_every_script_has_a_digest_of_its_own():
    digests = {script.stem: code_digest(script) for script in SCRIPTS.glob("*.py")}
    assert len(digests) > 10
    assert len(set(digests.values())) == len(digests)


@pytest.mark.parametrize(
    ("script", "module", "reached"),
    [
        ("extract_features", "features/distance", True),
        ("extract_features", "attention/hook", True),
        ("extract_features", "types/clustering", False),
        ("evaluate_condition", "ablation/ablate", True),
        ("evaluate_condition", "tasks/squad", False),
        ("cluster_heads", "types/naming", True),
        ("cluster_heads", "models/fetching", False),
        ("evaluate_controls", "ablation/evaluation", True),
        ("measure_intervals", "base/bootstrap", True),
        ("measure_intervals", "ablation/evaluation", False),
        ("measure_confidence", "types/clustering", True),
        ("tabulate_ablations", "papers/guan2020/published", True),
        ("tabulate_ablations", "papers/guan2020/comparison", False),
        ("compare_with_guan", "papers/guan2020/rules", True),
        ("compare_with_guan", "papers/claims", True),
        ("plot_projection", "types/embedding", True),
        ("plot_models", "features/feature_files", False),
        ("compare_with_guan", "papers/guan2020/comparison", True),
        ("sample_inputs", "attention/hook", False),
    ],
)
def test_a_rule_depends_on_the_modules_that_it_uses(script, module, reached):
    assert (f"headtypes/{module}.py" in reached_modules(SCRIPTS / f"{script}.py")) is reached


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda script: script.stem)
def test_no_rule_that_computes_depends_on_the_configuration_or_the_plan(script):
    """What they need reaches them as their spec; else every change of the config's code would run everything again."""
    unwanted = (
        "headtypes/planning/config/",
        "headtypes/planning/plan",
        "headtypes/planning/stages",
        "headtypes/planning/digest",
    )
    assert not [module for module in reached_modules(script) if module.startswith(unwanted)]
