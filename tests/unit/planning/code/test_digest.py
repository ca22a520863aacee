"""The digest of a rule's code: changes with what the code means, and with nothing else."""

import importlib.metadata
import re
from pathlib import Path

import pytest

from headtypes.planning.code import packages
from headtypes.planning.code.digest import code_digest, code_parts, forget_files, reached_modules, whole_modules
from tests.support.places import SCRIPTS

# What every case begins with: a script that imports tools.used, which imports tools.deep.
FILES = {
    "script.py": "from tools.used import work\n\nwith job() as (inputs, outputs):\n    work(inputs)\n",
    "tools/__init__.py": "",
    "tools/used.py": '"""Docs."""\n\nfrom tools import deep\n\ndef work(x):\n    """D."""\n    return deep.N * x\n',
    "tools/deep.py": "N = 3\n",
    "tools/unused.py": "M = 4\n",
}


@pytest.fixture
def code(tmp_path):
    """The folder of `FILES`."""
    write(tmp_path, FILES)
    return tmp_path


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    forget_files()


def digest_of(code: Path, **changes: str) -> str:
    """The digest of the script after files, named with `__` for the slash, have another text."""
    write(code, {f"{name.replace('__', '/', 1)}.py": text for name, text in changes.items()})
    return code_digest(code / "script.py")


# Code of tools/used.py, {an edit that changes what `work` does: what is replaced by what}. With [another.py], what
# follows is the text of that module, which may be edited as well.
NOTICED = {
    "a constant": ("N = 3\ndef work(x): return N * x", "3|4"),
    "a constant behind others": ("A = 3\nB = A\nC = [B]\ndef work(x): return C", "3|4"),
    "a default argument": ("def work(x, n=3): return n", "n=3|n=4"),
    "a default that is computed": ("def base(): return 3\ndef work(x, n=base()): return n", "3|4"),
    "a decorator": ("def two(f): return f\ndef one(f): return f\n@one\ndef work(x): return x", "@one|@two"),
    "within a decorator": ("def one(f): return lambda x: 3\n@one\ndef work(x): return x", "3|4"),
    "an argument of a decorator": (
        "from functools import lru_cache\n@lru_cache(3)\ndef work(x): return x",
        "(3)|(4)",
    ),
    "a base class": (
        "class A:\n def f(self): return 3\nclass B:\n def f(self): return 4\n"
        "class C(A): pass\ndef work(x): return C().f()",
        "C(A)|C(B)",
    ),
    "an inherited method": (
        "class A:\n def f(self): return 3\nclass C(A): pass\ndef work(x): return C().f()",
        "3|4",
    ),
    "an override in a subclass": (
        "class A:\n def g(self): return self.f()\n def f(self): return 1\n"
        "class C(A):\n def f(self): return 3\ndef work(x): return C().g()",
        "3|4",
    ),
    "a method of super": (
        "class A:\n def f(self): return 3\nclass C(A):\n def f(self): return super().f()\ndef work(x): return C().f()",
        "3|4",
    ),
    "a class attribute": ("class A:\n n = 3\ndef work(x): return A.n", "3|4"),
    "a class attribute behind another": ("class A:\n m = 3\n n = m\ndef work(x): return A().n", "3|4"),
    "an annotated attribute": ("class A:\n n: int = 3\ndef work(x): return A().n", "3|4"),
    "a field of a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n n: int = 3\ndef work(x): return A()",
        "3|4",
    ),
    "the default of a field": (
        "from dataclasses import dataclass, field\ndef new(): return 3\n"
        "@dataclass\nclass A:\n n: int = field(default_factory=new)\ndef work(x): return A()",
        "3|4",
    ),
    "a field of a named tuple": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n n: int = 3\ndef work(x): return A()[0]",
        "3|4",
    ),
    "a type that a field is read as": (
        "class B:\n def __init__(self, n): self.n = 3\n"
        "from dataclasses import dataclass\n@dataclass\nclass A:\n n: 'list[B]'\ndef work(x): return read(A)",
        "3|4",
    ),
    "a property": ("class A:\n @property\n def n(self): return 3\ndef work(x): return A().n", "3|4"),
    "the setter of a property": (
        "class A:\n @property\n def n(self): return 1\n @n.setter\n def n(self, value): self.m = 3\n"
        "def work(x): A().n = 2",
        "3|4",
    ),
    "a static method": ("class A:\n @staticmethod\n def f(): return 3\ndef work(x): return A.f()", "3|4"),
    "a method that Python calls": ("class A:\n def __len__(self): return 3\ndef work(x): return len(A())", "3|4"),
    "a method that a protocol of files has": (
        "class A:\n def write(self, text): return 3\ndef work(x): print(x, file=A())",
        "3|4",
    ),
    "a method that a library calls": (
        "import json\nclass A(json.JSONEncoder):\n def iterencode(self, o): return '3'\n"
        "def work(x): json.dumps(x, cls=A)",
        "3|4",
    ),
    "a method that a library calls in a class beside its own": (
        "import json\nclass M:\n def iterencode(self, o): return '3'\n"
        "class A(M, json.JSONEncoder): pass\ndef work(x): json.dumps(x, cls=A)",
        "3|4",
    ),
    "a method of a metaclass": (
        "class M(type):\n def f(cls): return 3\nclass A(metaclass=M): pass\ndef work(x): return A.f()",
        "3|4",
    ),
    "what a class does to those derived from it": (
        "BY = {}\nclass A:\n def __init_subclass__(cls): BY[cls.__name__] = cls\n"
        "class C(A):\n n = 3\ndef work(x): return BY['C'].n",
        "3|4",
    ),
    "classes that are asked for by their base": (
        "class A: pass\nclass C(A):\n n = 3\ndef work(x): return [c.n for c in A.__subclasses__()]",
        "3|4",
    ),
    "a descriptor": (
        "class D:\n def __get__(self, *of): return 3\nclass A:\n n = D()\ndef work(x): return A().n",
        "3|4",
    ),
    "a nested function": ("def work(x):\n def f(): return 3\n return f()", "3|4"),
    "a nested class": ("class A:\n class B:\n  n = 3\ndef work(x): return A.B.n", "3|4"),
    "a lambda": ("f = lambda: 3\ndef work(x): return f()", "3|4"),
    "a comprehension": ("def one(i): return 3\ndef work(x): return [one(i) for i in x]", "3|4"),
    "a partial": (
        "from functools import partial\ndef f(a, b): return 3\ng = partial(f, 1)\ndef work(x): return g(2)",
        "3|4",
    ),
    "a table of functions": ("def f(): return 3\nBY = {'f': f}\ndef work(x): return BY[x]()", "3|4"),
    "a table of classes": ("class A:\n def f(self): return 3\nBY = {'a': A}\ndef work(x): return BY[x]().f()", "3|4"),
    "the order of a table": ("BY = {'a': 1, 'b': 2}\ndef work(x): return list(BY)", "'a': 1, 'b': 2|'b': 2, 'a': 1"),
    "a table that a loop fills": (
        "BY = {}\nfor n in (1, 2):\n BY[n] = n * 3\ndef work(x): return BY",
        "3|4",
    ),
    "a table that a call fills": ("BY = {}\nBY.update(n=3)\ndef work(x): return BY", "3|4"),
    "a table that a decorator fills": (
        "BY = {}\ndef add(f):\n BY[f.__name__] = f\n@add\ndef f(): return 3\ndef work(x): return BY[x]()",
        "3|4",
    ),
    "a table that an assignment fills": (
        "BY = {}\ndef add(n):\n BY[n] = n\nseen = add(3)\ndef work(x): return BY",
        "3|4",
    ),
    "an augmented assignment": ("N = 1\nN += 3\ndef work(x): return N", "3|4"),
    "an augmented assignment to another name": ("N = M = [1]\nM += [3]\ndef work(x): return N", "3|4"),
    "a walrus": ("M = (N := 3) + 1\ndef work(x): return N", "3|4"),
    "an unpacked tuple": ("A, (N, *B) = 1, (3, 2)\ndef work(x): return N", "3|4"),
    "a deleted name": ("len = 3\nN = 1\ndef work(x): return len(x)", "N = 1|del len"),
    "a condition": ("import sys\nif sys.byteorder == 'little':\n N = 3\nelse:\n N = 1\ndef work(x): return N", "3|4"),
    "a conditional function": (
        "try:\n import gone\nexcept ImportError:\n def f(): return 3\ndef work(x): return f()",
        "3|4",
    ),
    "a definition that replaces another": ("def f(): return 1\ndef f(): return 3\ndef work(x): return f()", "3|4"),
    "the order of two definitions": ("N = 1\nM = N\nN = 2\ndef work(x): return M, N", "M = N\nN = 2|N = 2\nM = N"),
    "the order of what is done": (
        "import random\nrandom.seed(1)\nrandom.random()\ndef work(x): return random.random()",
        "random.seed(1)\nrandom.random()|random.random()\nrandom.seed(1)",
    ),
    "a global variable": ("N = 1\ndef more():\n global N\n N = 3\ndef work(x):\n more()\n return N", "3|4"),
    "a pattern": (
        "class A:\n @property\n def n(self): return 3\ndef work(x):\n match A():\n  case A(n=m): return m",
        "3|4",
    ),
    "a method by its name": ("class A:\n def f(self): return 3\ndef work(x): return getattr(A(), 'f')()", "3|4"),
    "a method by a name in a list": (
        "from operator import methodcaller\nclass A:\n def f(self): return 3\n"
        "def work(x): return [methodcaller(name)(A()) for name in 'e f'.split()]",
        "3|4",
    ),
    "a method by a name that is put together": (
        "class A:\n def at_1(self): return 3\ndef work(x): return getattr(A(), f'at_{x}')()",
        "3|4",
    ),
    "a method by a name in data": (
        "class A:\n def f(self): return 3\ndef work(x):\n g = getattr(A(), x)\n return g()",
        "3|4",
    ),
    "a property by a name in data": (
        "class A:\n @property\n def f(self): return 3\ndef work(x): return getattr(A(), x)",
        "3|4",
    ),
    "an attribute in a format": (
        "class A:\n @property\n def f(self): return 3\ndef work(x): return '{0.f}'.format(A())",
        "3|4",
    ),
    "a name among globals": ("def f(): return 3\ndef work(x): return globals()[x]()", "3|4"),
    "an import from elsewhere": ("from math import floor as f\ndef work(x): return f(x)", "floor|ceil"),
    "another name of another module": (
        "from tools.deep import f\ndef work(x): return f\n[deep]f, g = 3, 4",
        "import f|import g as f",
    ),
    "two names that change places": (
        "from tools.deep import f, g\ndef work(x): return f - g\n[deep]f = 3\ng = 4",
        "import f, g|import f as g, g as f",
    ),
    "a re-export": (
        "from tools.deep import f\ndef work(x): return f\n[deep]from tools.more import f\n[more]f = 3\ng = 4",
        "more import f|more import g as f",
    ),
    "what is re-exported": (
        "from tools.deep import f\ndef work(x): return f\n[deep]from tools.more import f\n[more]f = 3",
        "= 3|= 4",
    ),
    "a module under another name": ("import tools.deep as d\ndef work(x): return d.f\n[deep]f = 3", "= 3|= 4"),
    "a module in full": ("import tools.deep\ndef work(x): return tools.deep.f\n[deep]f = 3", "= 3|= 4"),
    "a module within a function": ("def work(x):\n from tools.deep import f\n return f\n[deep]f = 3", "= 3|= 4"),
    "a star": ("from tools.deep import *\ndef work(x): return f\n[deep]f = 3", "= 3|= 4"),
    "what a star leaves out": (
        "def f(): return 1\nfrom tools.deep import *\ndef work(x): return f()\n[deep]__all__ = ['f']\nf = g = int",
        "['f']|['g']",
    ),
    "a module handed on": ("from tools import deep\ndef work(x): return getattr(deep, x)\n[deep]f = 3", "= 3|= 4"),
    "a name that a module makes up": (
        "from tools import deep\ndef work(x): return deep.other\n[deep]def __getattr__(name): return 3",
        "return 3|return 4",
    ),
    "a patch of another module": (
        "from tools import deep, more\ndef work(x): return deep.f\n[deep]f = 1\n"
        "[more]from tools import deep\ndeep.f = 3",
        "= 3|= 4",
    ),
    "a patch of a class": (
        "import tools.more\nfrom tools.deep import A\ndef work(x): return A().f()\n"
        "[deep]class A:\n def f(self): return 1\n"
        "[more]from tools.deep import A\ndef f(self): return 3\nA.f = f",
        "return 3|return 4",
    ),
    "a patch by a module that is only imported": (
        "import json\nimport tools.deep\ndef work(x): return json.dumps(x)\n"
        "[deep]import json\njson.dumps = lambda x: 3",
        "x: 3|x: 4",
    ),
    "the order of two patches": (
        "import tools.deep\nimport tools.more\nimport json\ndef work(x): return json.dumps(x)\n"
        "[deep]import json\njson.dumps = str\n[more]import json\njson.dumps = repr",
        "import tools.deep\nimport tools.more|import tools.more\nimport tools.deep",
    ),
    "a new override": (
        "class A:\n def f(self): return 1\nclass C(A):\n m = 1\ndef work(x): return C().f()",
        " m = 1| def f(self): return 3",
    ),
    "a function with the name of Python's": ("M = 1\ndef work(x): return len(x)", "M = 1|def len(x): return 3"),
    "the text of an annotation that is read": (
        "from pydantic import BaseModel, validate_call\n@validate_call\ndef work(x: int): return x",
        "x: int|x: float",
    ),
}
# As above, with an edit that changes nothing of what `work` does.
NOT_NOTICED = {
    "another function": ("def other(): return 3\ndef work(x): return x", "3|4"),
    "another constant": ("import re\nOTHER = re.compile('3')\ndef work(x): return x", "3|4"),
    "a function that is added": ("M = 1\ndef work(x): return x", "M = 1|def other(): return 3"),
    "a class of which only a constant is used": (
        "class A:\n n = 1\n def f(self): return 3\ndef work(x): return A.n",
        "3|4",
    ),
    "a method that nothing names": (
        "class A:\n def f(self): return 1\n def g(self): return 3\ndef work(x): return A().f()",
        "3|4",
    ),
    "another column of a table of classes": (
        "from abc import ABC\nclass K(ABC): pass\n"
        "class A(K):\n def rows(self): return 3\n def samples(self): return 1\n"
        "BY = {'a': A()}\ndef work(x): return BY[x].samples()",
        "3|4",
    ),
    "what a name in the same module needs": (
        "from tools.deep import f\ndef other(): return f()\ndef work(x): return x\n[deep]def f(): return 3",
        "return 3|return 4",
    ),
    "an imported module's other names": (
        "from tools import deep\ndef work(x): return deep.f\n[deep]f = 1\ndef g(): return 3",
        "return 3|return 4",
    ),
    "the order of two functions": (
        "def f(): pass\ndef g(): pass\ndef work(x): return f() or g()",
        "def f(): pass\ndef g(): pass|def g(): pass\ndef f(): pass",
    ),
    "an import that only a type checker makes": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n from tools.deep import A\n"
        "def work(x: 'A'): return x\n[deep]print(3)",
        "(3)|(4)",
    ),
    "a class in the annotation of an argument": (
        "from tools.deep import A\ndef work(x: A): return x\n[deep]class A:\n n = 3",
        "3|4",
    ),
}


def edited(code: Path, text: str, edit: str) -> tuple[str, str]:
    """The digests before and after the edit of a case."""
    first, *others = re.split(r"\n\[(\w+)\]", text)
    files = {"used": first, **dict(zip(others[::2], others[1::2], strict=True))}
    old, new = edit.split("|")
    (name,) = [name for name, text in files.items() if old in text]
    before = digest_of(code, **{f"tools__{each}": text for each, text in files.items()})
    return before, digest_of(code, **{f"tools__{name}": files[name].replace(old, new)})


@pytest.mark.parametrize("case", NOTICED)
def test_what_changes_a_result_counts(code, case):
    before, after = edited(code, *NOTICED[case])
    assert before != after


@pytest.mark.parametrize("case", NOT_NOTICED)
def test_what_changes_no_result_does_not_count(code, case):
    before, after = edited(code, *NOT_NOTICED[case])
    assert before == after


def test_modules_that_count_as_a_whole_are_named(code):
    digest_of(code, tools__used="from tools import deep\n\ndef work(x):\n    return vars(deep)[x]\n")
    assert whole_modules(code / "script.py") == {"tools/deep.py"}


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
        ("tools____init__", "import os\n\nos.umask(0)\n"),
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
        "def late():\n    from tools.unused import M\n\nlate()",
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
    digest_of(
        code,
        tools__deep="import torch\nfrom sklearn.cluster import KMeans\nimport pydantic\nN = torch, KMeans, pydantic\n",
    )

    def with_versions(**others) -> str:
        packages.version.cache_clear()
        monkeypatch.setattr(importlib.metadata, "version", {**versions, **others}.__getitem__)
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
    ("script", "name", "counts"),
    [
        ("extract_features", "DistanceFeatures.read_layer", True),
        ("extract_features", "AttentionReader", True),
        ("extract_features", "read_conll2012", False),
        ("extract_features", "fit", False),
        ("evaluate_condition", "Ablation", True),
        ("evaluate_condition", "sample_questions", False),
        ("cluster_heads", "name_types", True),
        ("cluster_heads", "fetch_model", False),
        ("measure_intervals", "evaluate_condition", False),
        ("compare_with_paper", "claim", True),
        ("plot_surface", "TEXT_CLAIMS", False),
        ("tabulate_ablations", "judge", False),
        ("sample_inputs", "open_attention", False),
    ],
)
def test_a_rule_depends_on_the_names_that_it_uses(script, name, counts):
    everywhere = {part.partition(":")[2] for each in SCRIPTS.glob("*.py") for part in code_parts(each)}
    assert name in everywhere
    assert (name in {part.partition(":")[2] for part in code_parts(SCRIPTS / f"{script}.py")}) is counts


def test_no_rule_that_computes_depends_on_the_configuration_or_the_plan():
    """What they need reaches them as their spec; else every change of the config's code would run everything again."""
    unwanted = tuple(f"headtypes/planning/{name}" for name in ("config/", "plan", "stages", "code/digest"))
    reached = {script.stem: reached_modules(script) for script in SCRIPTS.glob("*.py")}
    assert not [(name, module) for name in reached for module in reached[name] if module.startswith(unwanted)]


def test_a_digest_does_not_depend_on_what_was_digested_before():
    """Else the job's process, which has another order, would find other code than the run."""
    found = []
    for scripts in (sorted(SCRIPTS.glob("*.py")), sorted(SCRIPTS.glob("*.py"), reverse=True)):
        forget_files()
        found.append({script: code_digest(script) for script in scripts})
    assert found[0] == found[1]
