"""The configuration: its keys, what each may hold, and one clear line for what cannot be.

`schemas/config.schema.json` is generated from these models (`python -m headtypes.config`), for editors.
"""

import json
import os
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from headtypes.config_errors import sentence
from headtypes.errors import InputError

Operation = Literal["keep", "zero", "uniform", "drop_intra", "drop_inter"]
Method = Literal["kmeans", "gmm", "agglomerative", "spectral"]
TaskKind = Literal["question_answering", "sentence_pair"]

# Names become file names: no separator and no leading dot, so that none can leave the results folder.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


def _expand(path: str) -> str:
    expanded = os.path.expanduser(os.path.expandvars(path))
    unset = re.search(r"\$(\w+|\{\w+\})", expanded)
    if unset:
        raise ValueError(f"the environment variable {unset.group(1).strip('{}')} is not set")
    return expanded


LocalPath = Annotated[str, StringConstraints(min_length=1), AfterValidator(_expand)]


class Strict(BaseModel):
    """A part of the configuration: unknown keys are refused, values are not changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


def _exactly_one(part: Strict, *keys: str) -> str:
    given = [key for key in keys if getattr(part, key) is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none"
        raise ValueError(f"needs exactly one of {', '.join(keys)}; found {found}")
    return given[0]


def _only_with(part: Strict, origin: str, *keys: str) -> None:
    for key in keys:
        if key in part.model_fields_set and getattr(part, origin) is None:
            raise ValueError(f"the key {key} belongs to a source with {origin}")


class ModelSource(Strict):
    """Where a model comes from: exactly one of `hub`, `folder`, `package`."""

    hub: str | None = None
    """Hugging Face Hub id, such as google-bert/bert-base-uncased."""
    revision: str | None = None
    """Hub commit, tag or branch; without it, the current main is resolved once and recorded."""
    folder: LocalPath | None = None
    """Local folder as `save_pretrained` writes it; `~` and environment variables are expanded."""
    package: Name | None = None
    """Installed Python package that carries the model's files."""
    subfolder: str = "."
    """Folder of the model's files inside the package."""
    sha256: Sha256 | None = None
    """Expected SHA-256 of model.safetensors."""

    @model_validator(mode="after")
    def _check(self):
        _exactly_one(self, "hub", "folder", "package")
        _only_with(self, "hub", "revision")
        _only_with(self, "package", "subfolder")
        return self


class Columns(Strict):
    """Names of the columns of a sentence-pair data set."""

    first: str = "sentence1"
    second: str = "sentence2"
    label: str | None = None
    id: str | None = None
    """Column of the sample's id; without it, the row number."""


class TaskSource(Strict):
    """Where a task's data come from: exactly one of `hub`, `file`."""

    hub: str | None = None
    """Hugging Face Hub data set, such as rajpurkar/squad."""
    name: str | None = None
    """Configuration of the Hub data set, such as mrpc."""
    revision: str | None = None
    """Hub commit, tag or branch; without it, the current main is resolved once and recorded."""
    split: str = "validation"
    """Split of the Hub data set that samples and questions are drawn from."""
    file: LocalPath | None = None
    """SQuAD v1.1 JSON for question answering; TSV, CSV, JSONL or Parquet for sentence pairs."""

    @model_validator(mode="after")
    def _check(self):
        _exactly_one(self, "hub", "file")
        _only_with(self, "hub", "name", "revision", "split")
        return self


class Task(Strict):
    """A data set and how much of it is looked at."""

    kind: TaskKind = "question_answering"
    source: TaskSource
    columns: Columns = Columns()
    samples: Annotated[int, Field(ge=2)] = 1000
    """Inputs drawn for the distance features (the paper: 1,000)."""
    questions: Annotated[int, Field(ge=1)] | Literal["all"] = "all"
    """Questions that each ablation is evaluated on."""

    @model_validator(mode="after")
    def _check(self):
        for key in ("columns", "questions"):
            wanted = "sentence_pair" if key == "columns" else "question_answering"
            if key in self.model_fields_set and self.kind != wanted:
                raise ValueError(f"the key {key} belongs to a task of kind {wanted}")
        return self


class Model(Strict):
    """A Transformer, the tasks whose inputs it reads, and the task that it can answer."""

    source: ModelSource
    parent: Name | None = None
    """Model that this one was fine-tuned from; only such relatives are compared head by head."""
    tasks: Annotated[list[Name], Field(min_length=1)]
    """Tasks on whose inputs the features are extracted and clustered."""
    evaluate: Name | None = None
    """Task that the model was fine-tuned for; its heads are ablated there."""
    published: Literal["pre-trained", "squad", "mrpc", "mnli"] | None = None
    """Row of the paper's Table 1 that this model stands beside."""


class Clustering(Strict):
    """How heads are divided into types (Guan et al., section 4)."""

    methods: Annotated[list[Method], Field(min_length=1)] = ["kmeans"]
    k: Annotated[list[Annotated[int, Field(ge=2, le=64)]], Field(min_length=1)] = [4]
    windows: Literal[1, 2, 4, 8, 16, 32, 64] = 16
    """Distance windows of the feature; any divisor of 64, without a new extraction."""
    scale: bool = False
    """Whether each column is brought to unit variance first."""
    restarts: Annotated[int, Field(ge=1)] = 50
    """Initialisations of which the best is kept."""


class Stability(Strict):
    """How far the types depend on the heads and samples seen (von Luxburg 2010)."""

    models: Annotated[int, Field(ge=2)] = 10
    """Clusterings, each fitted on a random half."""


class Partition(Strict):
    """A division of heads into types that the user brings."""

    file: LocalPath
    """CSV with the columns layer, head (both from 0) and type."""
    model: Name
    task: Name
    """Task whose features describe the types, and which the conditions are evaluated on."""


class Windows(Strict):
    """How a question and its context become inputs (the original run_squad)."""

    tokens: Annotated[int, Field(ge=16)] = 384
    advance: Annotated[int, Field(ge=1)] = 128
    """Tokens by which each window starts after the one before (run_squad calls this the stride)."""
    question_tokens: Annotated[int, Field(ge=1)] = 64
    answer_tokens: Annotated[int, Field(ge=1)] = 30

    @model_validator(mode="after")
    def _check(self):
        # Three special tokens are the most that BERT adds to a pair, four RoBERTa.
        if self.tokens < self.question_tokens + 4 + self.advance:
            raise ValueError(
                "tokens must hold the question, four special tokens and the advance: "
                f"{self.tokens} < {self.question_tokens} + 4 + {self.advance}"
            )
        return self


class Ablation(Strict):
    """Readings of the paper's section 5 that its text leaves open."""

    sentences: Literal["splitter", "segments"] = "splitter"
    """Sentences of the context by a splitter, or question and context as the two sentences."""
    special_tokens: Literal["neither", "inter"] = "neither"
    """Whether attention to or from [CLS] and [SEP] counts as inter-sentence."""
    renormalise: bool = False
    """Whether rows are divided by their sum after an operation."""


class Compute(Strict):
    """What fixes the arithmetic of a forward pass."""

    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    batch_tokens: Annotated[int, Field(ge=512)] = 4096
    """Padded tokens of one batch."""


class Select(Strict):
    """Which entries of the registries run; without a list, all."""

    models: list[Name] | None = None
    tasks: list[Name] | None = None
    partitions: list[Name] | None = None
    conditions: list[Name] | None = None


class Config(Strict):
    """The whole configuration."""

    seed: Annotated[int, Field(ge=0)] = 2020
    """Every random choice derives from this, the stage and what it is about."""
    tasks: Annotated[dict[Name, Task], Field(min_length=1)]
    models: Annotated[dict[Name, Model], Field(min_length=1)]
    clustering: Clustering = Clustering()
    stability: Stability = Stability()
    partitions: dict[Name, Partition] = {}
    windows: Windows = Windows()
    ablation: Ablation = Ablation()
    conditions: dict[Name, dict[Name, Operation]] = {}
    """Name of a condition: what is done to the heads of each type; types not named are kept."""
    compute: Compute = Compute()
    select: Select = Select()


def read_config(raw: dict[str, Any]) -> Config:
    """Turn a parsed YAML mapping into a `Config`.

    Raises `InputError` with one line that names the first wrong key, says what is allowed there and, for a
    name that comes close to an allowed one, which was probably meant.
    """
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"config: {sentence(error, Config)}") from None


def json_schema() -> str:
    """The JSON schema of the configuration, as the repository keeps it for editors."""
    return json.dumps(Config.model_json_schema(), indent=1) + "\n"


if __name__ == "__main__":
    print(json_schema(), end="")
