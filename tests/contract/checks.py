"""What scripts, rules and modules keep to, so that nothing changes a result behind the back of `spec` and `code`.

Each check takes the root of a repository and returns what is wrong there, one sentence each. It imports nothing from
that repository: it reads syntax trees, or the rules as Snakemake has read them.
"""

import ast
import json
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from headtypes.planning.stages.registry import STAGES
from tests.support.planning import jobs_of_another_python, planned_jobs, rules_of

# What a job may know of Snakemake: its files and its two parameters; the others name it in messages and records.
OF_A_JOB = {"input", "output", "log", "params", "resources", "rule", "threads", "wildcards"}
# What other rules inherit, and the rules that run the script of another.
INHERITED = {"job", "local_job", "job_on_samples"}
SHARED = {
    "extract_shard": "extract_features",
    "evaluate_shard": "evaluate_condition",
    "measure_divergence_shard": "measure_divergence",
    "fetch_training": "fetch_task",
    "fetch_test": "fetch_task",
}
# Parameters that change no result: Snakemake runs no job again for one that asks for `output`.
UNCOUNTED_PARAMETERS = {
    "fetch_model": "sha256",
    **{name: "memory" for name, stage in STAGES.items() if stage.runs_model},
}
# Rules that read files of the user's, whose contents count.
OF_USER = re.compile(r"identity\(\s*\"(\w+)\", lambda")
KEYED = re.compile(r"^        \*\*keyed\(\s*\"(\w+)\"", re.MULTILINE)
# Packages that the digest does not count, since they change no result.
UNCOUNTED = {
    "huggingface_hub": "carries files, whose revision is recorded",
    "markdown_it": "lays out pages whose numbers are made before",
    "jinja2": "lays out a page, as markupsafe does",
    "markupsafe": "escapes its text",
    "PIL": "packs figures for that page",
    "jaxtyping": "names the dimensions of arrays in signatures",
    "pydantic": "checks the configuration, before any rule",
    "threadpoolctl": "sets the number of threads",
    "safetensors": "counts the numbers in files whose checksum is recorded",
    "tqdm": "draws progress bars",
    "triton": "comes with torch, at the version that torch pins",
    "yaml": "reads the configuration and the published figures",
}
# How a Snakefile may speak of it: to check it, to keep it, and for the names of models and tasks.
READINGS = re.compile(
    r"\b(headtypes \. planning \. config \.|layers = laid_over \( config ,|command_line \. config ,"
    r"|plan \. config \. (models|tasks)\b)"
)
# Modules that read the environment: to choose one of several equal devices, for the run that started a job, and to have
# jobs find the code that was planned. None changes a result.
READ_ENVIRONMENT = tuple(f"headtypes/{name}.py" for name in ("models/gpus", "planning/locks", "planning/code/running"))
# Runs programs as Python does, whatever they import, and is reached by no job (`test_layers`).
STARTS_OTHERS = Path("headtypes/planning/forks.py")
# What commands alone read, and no job.
OF_COMMANDS = ("workflow_scripts/headtypes/pages/atlas/live.js",)


def scripts(root: Path) -> list[str]:
    """A script hands `snakemake` to `job` and uses it nowhere else."""
    return [
        f"{file.name}:{name.lineno}: uses snakemake besides handing it to job"
        for file in _scripts(root)
        for name in _snakemake_outside_job(_tree(file))
    ]


def modules(root: Path) -> list[str]:
    """Scripts and modules import statically and in full, and read nothing but what they are given."""
    return [
        f"{file.relative_to(_code(root))}:{line}: {wrong}"
        for file in (*_scripts(root), *_modules(root))
        for line, wrong in (*_unseen_imports(_tree(file)), *_outside_inputs(file))
        if file != _code(root) / STARTS_OTHERS
    ]


def files(root: Path) -> list[str]:
    """Next to the modules lie no data, which no digest would cover, but what is an input of a rule."""
    others = [file for file in _code(root).rglob("*") if file.is_file() and file.suffix not in (".py", ".pyc")]
    read = {(root / file).resolve() for job in planned_jobs(root) for file in [*job.inputs, *OF_COMMANDS]}
    unseen = [file for file in others if file.resolve() not in read]
    return [f"{file.relative_to(_code(root))}: is not Python, and no digest covers it" for file in unseen]


def packages(root: Path, counted: Iterable[str]) -> list[str]:
    """What is imported is the standard library, ours, counted by the digest, or known to change nothing."""
    known = {*sys.stdlib_module_names, "headtypes", *counted, *UNCOUNTED}
    return [
        f"{file.relative_to(_code(root))}:{line}: imports {name}, whose version no digest covers"
        for file in (*_scripts(root), *_modules(root))
        for line, name in _imported(_tree(file))
        if name.partition(".")[0] not in known
    ]


def snakefiles(root: Path) -> list[str]:
    """What rules take of the configuration comes through `spec`, or is the name of a model or a task."""
    return [
        f"{file.name}:{line}: reads the configuration"
        for file in (root / "Snakefile", *sorted((root / "rules").glob("*.smk")))
        for line in _readings(file)
    ]


def rules(root: Path) -> list[str]:
    """Every rule runs a script of its name, and has the parameters `spec`, from wildcards alone, and `code`.

    One that reads files of the user's has `contents`, too, and one that reads many files of a kind has `keyed`. The
    others are constant, or change no result.
    """
    wrong = []
    texts = [file.read_text() for file in (root / "rules").glob("*.smk")]
    keyed, of_user = ({name for text in texts for name in pattern.findall(text)} for pattern in (KEYED, OF_USER))
    for rule in rules_of(root):
        if not rule.runs or rule.name in INHERITED:
            continue
        if rule.runs != ("script",):
            wrong.append(f"{rule.name}: has {' and '.join(rule.runs)} instead of a script")
        elif Path(rule.script).stem != SHARED.get(rule.name, rule.name):
            wrong.append(f"{rule.name}: runs {rule.script}")
        uncounted = UNCOUNTED_PARAMETERS.get(rule.name)
        further = ((uncounted, ("wildcards", "output")),) if uncounted else ()
        more = (*(["contents"] if rule.name in of_user else []), *(["keyed"] if rule.name in keyed else []))
        counted = ("spec", "code", *more)
        functions = (*((each, ("wildcards",)) for each in counted), *further)
        if rule.parameters != (("script", None), ("stage", None), *functions):
            wrong.append(f"{rule.name}: has the parameters {', '.join(map(_shown, rule.parameters))}")
    return wrong


def parameters(root: Path) -> list[str]:
    """Every parameter of every job is text: `spec` in canonical JSON, `code` a digest."""
    wrong = []
    for job in planned_jobs(root):
        for name, kind, shown in job.parameters:
            value = ast.literal_eval(shown) if kind == "str" else None
            if value is None:
                wrong.append(f"{job.rule}: the parameter {name} is a {kind}")
            elif name == "spec" and value != _canonical(value):
                wrong.append(f"{job.rule}: the parameter spec is not canonical JSON")
            elif name == "code" and not re.fullmatch("[0-9a-f]{16,64}", value):
                wrong.append(f"{job.rule}: the parameter {name} is not a digest")
    return list(dict.fromkeys(wrong))


def order(root: Path) -> list[str]:
    """Parameters do not depend on the order in which Python happens to keep a set."""
    one, other = (jobs_of_another_python(root, hash_seed) for hash_seed in (1, 2))
    differing = {here.rule for here, there in zip(one, other, strict=True) if here.parameters != there.parameters}
    return [f"{rule}: another start of Python gives it other parameters" for rule in sorted(differing)]


CHECKS = (scripts, modules, files, snakefiles, rules, parameters, order)


def _code(root: Path) -> Path:
    return root / "workflow_scripts"


def _scripts(root: Path) -> list[Path]:
    return sorted(_code(root).glob("*.py"))


def _modules(root: Path) -> list[Path]:
    return sorted((_code(root) / "headtypes").rglob("*.py"))


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def _shown(parameter: tuple[str | None, tuple[str, ...] | None]) -> str:
    name, arguments = parameter
    return (name or "one without a name") + ("" if arguments is None else f"({', '.join(arguments)})")


def _canonical(value: str) -> str | None:
    try:
        return json.dumps(json.loads(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return None


def _snakemake_outside_job(tree: ast.Module) -> Iterator[ast.Name]:
    allowed = {
        argument
        for statement in tree.body
        if isinstance(statement, ast.With)
        for item in statement.items
        if isinstance(item.context_expr, ast.Call) and ast.unparse(item.context_expr.func) == "job"
        for argument in item.context_expr.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "snakemake" and node not in allowed:
            yield node


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or "."


def _unseen_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Imports that the digest does not follow. To ask for a package's version, or to look for it, is none."""
    unseen = {"__import__", "eval", "exec", "exec_module", "import_module", "load_module", "run_module", "run_path"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "a relative import"
            elif {node.module, *(alias.name for alias in node.names)} & {*unseen, "importlib"}:
                yield node.lineno, "imports by a name that is made at run time"
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called.rpartition(".")[2] in unseen and called != "model.eval":
                yield node.lineno, f"{called} imports or runs what no digest follows"
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.path":
            yield node.lineno, "changes where modules are found"


def _outside_inputs(file: Path) -> Iterator[tuple[int, str]]:
    """Ways round `spec`: what Snakemake knows besides it, the environment, the configuration's own file."""
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Attribute):
            read = ast.unparse(node)
            of, _, what = read.partition(".")
            more_than_its_job = of == "snakemake" and what.partition(".")[0] not in OF_A_JOB
            if more_than_its_job or (
                read in ("os.environ", "os.getenv") and not file.as_posix().endswith(READ_ENVIRONMENT)
            ):
                yield node.lineno, f"reads {read}"
        elif isinstance(node, ast.Constant) and re.fullmatch(r"\S*config\.ya?ml", str(node.value)):
            yield node.lineno, "names the configuration's file"


def _readings(file: Path) -> Iterator[int]:
    """Lines of a Snakefile where the configuration is read other than by `READINGS`."""
    with open(file, "rb") as text:
        tokens = [
            token for token in tokenize.tokenize(text.readline) if token.type not in (tokenize.COMMENT, tokenize.NL)
        ]
    words = [token.string for token in tokens]
    for at, token in enumerate(tokens):
        if token.type == tokenize.STRING and re.search(r"\{\s*(plan\.)?config\b", token.string):
            yield token.start[0]
        elif token.string == "config" and token.type == tokenize.NAME:
            around = " ".join(words[max(at - 4, 0) : at + 3])
            if not READINGS.search(around):
                yield token.start[0]
