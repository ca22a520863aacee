"""The base of every part of the configuration, and where models and data come from."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, create_model, model_validator
from pydantic_core import PydanticCustomError

from headtypes.core.errors import nearest
from headtypes.data.kinds.registry import KINDS
from headtypes.planning.config.messages import UNKNOWN_KEY
from headtypes.training.settings import STRICT, Learning

TaskKind = Literal[*KINDS]
_FORMATS = "; ".join(f"{kind.formats} for {kind.title}" for kind in KINDS.values()) + "."

# Names become file names: no separator and no leading dot, so that none can leave the results folder.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=80)]
# Where a pattern among the models may stand, or be replaced: editors allow a {name} in it.
PatternName = Annotated[Name, Field(json_schema_extra={"pattern": r"^[A-Za-z0-9{][A-Za-z0-9_.+{}-]*$"})]
Text = Annotated[str, StringConstraints(min_length=1)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


# What a path begins with that counts from the folder of the workflow, and not from the working directory.
_WORKFLOW = "{workflow}/"
_ROOT = Path(__file__).resolve().parents[4]


def _expand(path: str) -> str:
    if path.startswith(_WORKFLOW):
        # Relative, so that a folder that was moved with its runs has the same inputs.
        path = os.path.relpath(_ROOT / path.removeprefix(_WORKFLOW))
    # A variable that is not set stays as it is: only selected entries need theirs, and the plan checks them.
    expanded = os.path.expanduser(os.path.expandvars(path))
    if not expanded.isprintable():
        raise ValueError("a path is one line of printable text")
    # However it is spelt, it is the same input.
    return os.path.normpath(expanded)


def _module(package: str) -> str:
    if not package.isidentifier():
        raise ValueError(f"{package!r} is not a name that Python can import; such names have letters, digits and _")
    return package


LocalPath = Annotated[Text, AfterValidator(_expand)]


class Strict(BaseModel):
    """A part of the configuration: unknown keys are refused, values are not changed afterwards."""

    model_config = STRICT

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        """Name the closest key, of which pydantic would say no more than that the given one is not permitted."""
        for key in given if isinstance(given, dict) else ():
            if key not in cls.model_fields:
                allowed = sorted(cls.model_fields)
                sentence = f"this key is unknown.{nearest(str(key), allowed)} Allowed: {', '.join(allowed)}."
                raise PydanticCustomError(UNKNOWN_KEY, "{sentence}", {"sentence": sentence, "keys": (str(key),)})
        return given


def _exactly_one(part: Strict, *keys: str) -> None:
    given = [key for key in keys if getattr(part, key) is not None]
    if len(given) != 1:
        raise ValueError(f"needs exactly one of {', '.join(keys)}; found {' and '.join(given) or 'none'}")


def _only_with(part: Strict, origin: str, *keys: str) -> None:
    for key in keys:
        if key in part.model_fields_set and getattr(part, origin) is None:
            raise ValueError(f"the key {key} belongs to a source with {origin}")


class Finetuned(Strict, Learning):
    """A model that the workflow fine-tunes; the defaults are those of Devlin et al. 2019 for SQuAD."""

    base: PatternName
    """Model that is fine-tuned."""
    task: PatternName
    """Task whose training data it learns."""


class Trained(Strict):
    """A small decoder that the workflow trains from scratch until it copies: a control for detectors."""

    layers: Annotated[int, Field(ge=1, le=8)]
    """Layers of the model: two are enough for induction heads, and one is not."""


class ModelSource(Strict):
    """Where a model comes from: exactly one of `hub`, `folder`, `package`, `gguf`, `finetuned`, `trained`."""

    hub: Text | None = None
    """Hugging Face Hub id, such as google-bert/bert-base-uncased."""
    revision: Text | None = None
    """Hub commit, tag or branch; without it, the current main is resolved once and recorded."""
    folder: LocalPath | None = None
    """Local folder as `save_pretrained` writes it; `~` and environment variables are expanded."""
    package: Annotated[Text, AfterValidator(_module)] | None = None
    """Installed Python package that contains the model's files, by its import name."""
    subfolder: Text = "."
    """Folder of the model's files inside the package."""
    gguf: LocalPath | None = None
    """File in GGUF, the format of llama.cpp, which holds the weights and the tokenizer; with `package`, its name in the
    package."""
    sha256: Sha256 | None = None
    """Expected SHA-256 of model.safetensors, of pytorch_model.bin, or of the file in GGUF."""
    pickle: bool = False
    """Whether the weights may be a pickle (pytorch_model.bin) where there are no safetensors; a pickle can run code."""
    finetuned: Finetuned | None = None
    """Fine-tuned by the workflow from another model."""
    trained: Trained | None = None
    """Trained by the workflow from scratch to copy, with another seed for each name of a model."""

    @model_validator(mode="after")
    def _check(self):
        made = ("finetuned", "trained")
        in_package = self.package is not None and self.gguf is not None
        _exactly_one(self, "hub", "folder", "package", *(() if in_package else ("gguf",)), *made)
        _only_with(self, "hub", "revision")
        _only_with(self, "package", "subfolder")
        if self.gguf is not None and not self.gguf.endswith(".gguf"):
            raise ValueError("the name of a file in GGUF ends with .gguf")
        if in_package and os.path.basename(self.gguf) != self.gguf:
            raise ValueError("with package, gguf is the name of a file; its folder in the package is subfolder")
        if self.sha256 and any(getattr(self, key) is not None for key in made):
            raise ValueError("the key sha256 belongs to a source with files; trained weights are recorded when made")
        return self


# The fields and their descriptions are written once, in the kinds.
Columns = create_model(
    "Columns",
    __base__=Strict,
    __module__=__name__,
    __doc__="Names of the columns of a task's table, by what is in them.",
    **{
        field: (
            Annotated[Text if column.default else Text | None, Field(description=column.doc or None)],
            column.default,
        )
        for kind in KINDS.values()
        for field, column in kind.columns.items()
    },
)


class TaskSource(Strict):
    """Where a task's data come from: exactly one of `hub`, `file`, `folder`."""

    hub: Text | None = None
    """Hugging Face Hub data set, such as rajpurkar/squad."""
    name: Text | None = None
    """Configuration of the Hub data set, such as mrpc."""
    revision: Text | None = None
    """Hub commit, tag or branch; without it, the current main is resolved once and recorded."""
    split: Text = "validation"
    """Split of the Hub data set that samples and questions are drawn from; models are fine-tuned on its `train`."""
    file: Annotated[LocalPath | None, Field(description=_FORMATS)] = None
    training_file: LocalPath | None = None
    """File of the same kind that models are fine-tuned on, or that probes learn from."""
    test_file: LocalPath | None = None
    """CoNLL-U file on which the heads and offsets that are chosen on `file` are scored; without it, each half of the
    sentences of `file` is scored with the choices of the other."""
    folder: LocalPath | None = None
    """Folder of text files, or of files with coreference, of one suffix, read in the order of their names."""

    @model_validator(mode="after")
    def _check(self):
        _exactly_one(self, "hub", "file", "folder")
        _only_with(self, "hub", "name", "revision", "split")
        _only_with(self, "file", "training_file", "test_file")
        return self
