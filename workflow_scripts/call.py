"""The script of every rule: from a Snakemake job to plain values, with which it calls what the rule's stage names."""

import gc
import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

# Snakemake has scripts find this folder last, so that an installed package of the same name would be found before ours.
sys.path.insert(0, str(Path(__file__).parent))

from headtypes.core.errors import InputError
from headtypes.core.files import refusal
from headtypes.core.progress import logged, title_of
from headtypes.models.placement import MEMORY, usable_precision
from headtypes.planning.code import check_code, loaded_modules
from headtypes.planning.provenance import forget, provenance_of, record, results_folder, state_of, verified


def _say_stopped(kind, error, trace, otherwise=sys.excepthook) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("stopped.", file=sys.stderr)
    else:
        otherwise(kind, error, trace)


# Before anything heavy is loaded: Ctrl-C reaches every job, most of them while they load libraries.
sys.excepthook = _say_stopped


@contextmanager
def job(snakemake: Any) -> Iterator[tuple[Any, dict, Any, dict]]:
    """Yield (inputs, spec, outputs, provenance) of a Snakemake job, and write everything printed to the job's log, too.

    Inputs and outputs are Snakemake's objects, in which an input of many files with keys has become a mapping {key:
    path}, whose keys are texts or tuples of texts. The spec is a dict, the part of the configuration that the rule
    depends on, with the `sha256` that a model's weights must have. The provenance is a dict of what the outputs are
    made with (`planning.provenance`), and is recorded when the job has succeeded.

    An `InputError`, or a refusal of the system to read or write, ends the job with a message alone. Any other error
    also leaves its traceback in the log.
    """
    inputs, outputs, spec = list(snakemake.input), list(snakemake.output), json.loads(snakemake.params.spec)
    title, wildcards = title_of(snakemake.rule, snakemake.wildcards), dict(snakemake.wildcards.items())
    with ExitStack() as opened:
        try:
            opened.enter_context(logged(snakemake.log[0]))
            # Others than Snakemake may run a script.
            if folder := getattr(snakemake, "scriptdir", None):
                check_code(snakemake.params.code, loaded_modules(snakemake.params.calls, spec), Path(folder))
            forget(outputs)
            results = results_folder(outputs[0])
            states = state_of(inputs, results)
            read = verified(inputs, results)
            provenance = provenance_of(snakemake.rule, wildcards, spec, snakemake.params.code, inputs, results)
            checked = {"sha256": sha256} if (sha256 := getattr(snakemake.params, "sha256", None)) else {}
            if memory := json.loads(getattr(snakemake.params, "memory", "null")):
                MEMORY[snakemake.wildcards.model] = memory
            for name, keys in json.loads(getattr(snakemake.params, "keyed", "{}")).items():
                named = (key if isinstance(key, str) else tuple(key) for key in keys)
                setattr(snakemake.input, name, dict(zip(named, getattr(snakemake.input, name), strict=True)))
            # A copy, since functions take keys out of it.
            yield snakemake.input, {**spec, **checked}, snakemake.output, provenance
            if spec.get("precision") == "bfloat16" or spec.get("bf16"):
                provenance |= {"computed_in": usable_precision("bfloat16")}
            record(provenance, read, outputs, snakemake.threads, states)
        except InputError as error:
            print(f"{title}: {error}", file=sys.stderr)
            sys.exit(1)
        except KeyboardInterrupt:
            print(f"{title}: stopped; run again.", file=sys.stderr)
            sys.exit(130)
        except Exception as error:
            if why := refusal(error):
                path = getattr(error, "filename", None) or " or ".join(outputs)
                print(f"{title}: {path} cannot be read or written: {why}; fix this and run again.", file=sys.stderr)
            else:
                traceback.print_exc()
            sys.exit(1)


def call(snakemake: Any) -> None:
    """Run a job: call the function of its rule with inputs, spec, outputs and provenance, as `job` yields them."""
    with job(snakemake) as given:
        module, _, function = snakemake.params.calls.partition(":")
        # A sixth of the time of an import is that of looking for what can be freed, and nothing can be.
        gc.disable()
        called = getattr(import_module(f"headtypes.{module}"), function)
        gc.freeze()
        gc.enable()
        called(*given)


# Snakemake sets it; tests import this module.
if "snakemake" in globals():
    call(snakemake)
