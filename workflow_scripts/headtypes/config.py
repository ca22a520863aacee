"""The configuration: its keys, what each may hold, and one clear line for what cannot be.

`schemas/config.schema.json` is generated from these models (`python -m headtypes.config`), for editors.
"""

import json
import os
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

from headtypes.config_errors import NAME, SHA256, sentence
from headtypes.errors import InputError

Operation = Literal["keep", "zero", "uniform", "drop_intra", "drop_inter"]
Method = Literal["kmeans", "gmm", "agglomerative", "spectral"]
TaskKind = Literal["question_answering", "sentence_pair"]

# Names become file names: no separator and no leading dot, so that none can leave the results folder.
Name = Annotated[str, StringConstraints(pattern=NAME, max_length=80)]
Text = Annotated[str, StringConstraints(min_length=1)]
Sha256 = Annotated[str, StringConstraints(pattern=SHA256)]


def _expand(path: str) -> str:
    # A variable that is not set stays as it is: only an entry that is selected needs it, and the plan tells.
    expanded = os.path.expanduser(os.path.expandvars(path))
    if expanded.splitlines() != [expanded] or "\0" in expanded:
        raise ValueError("a path is one line of text")
    return expanded


def _module(package: str) -> str:
    if not package.isidentifier():
        raise ValueError(f"{package!r} is not a name that Python can import; such names have letters, digits and _")
    return package


LocalPath = Annotated[Text, AfterValidator(_expand)]


class Strict(BaseModel):
    """A part of the configuration: unknown keys are refused, values are not changed afterwards."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


def _exactly_one(part: Strict, *keys: str) -> None:
    given = [key for key in keys if getattr(part, key) is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none"
        raise ValueError(f"needs exactly one of {', '.join(keys)}; found {found}")


def _only_with(part: Strict, origin: str, *keys: str) -> None:
    for key in keys:
        if key in part.model_fields_set and getattr(part, origin) is None:
            raise ValueError(f"the key {key} belongs to a source with {origin}")


class Finetuned(Strict):
    """A model that the workflow makes; the defaults are those of Devlin et al. 2019 for SQuAD."""

    base: Name
    """Model that is fine-tuned."""
    task: Name
    """Task whose training data it learns."""
    learning_rate: Annotated[float, Field(gt=0)] = 5e-5
    batch_size: Annotated[int, Field(ge=1)] = 32
    epochs: Annotated[float, Field(gt=0)] = 3.0
    warmup_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Share of the steps over which the learning rate rises."""
    max_length: Annotated[int, Field(ge=16)] = 384
    """Tokens of an input; longer contexts are cut into windows, longer pairs are cut off."""
    freeze_embeddings: bool = False
    bf16: bool = False
    """Whether forward passes compute in bfloat16 where that is safe; the weights stay float32."""


class ModelSource(Strict):
    """Where a model comes from: exactly one of `hub`, `folder`, `package`, `finetuned`."""

    hub: Text | None = None
    """Hugging Face Hub id, such as google-bert/bert-base-uncased."""
    revision: Text | None = None
    """Hub commit, tag or branch; without it, the current main is resolved once and recorded."""
    folder: LocalPath | None = None
    """Local folder as `save_pretrained` writes it; `~` and environment variables are expanded."""
    package: Annotated[Text, AfterValidator(_module)] | None = None
    """Installed Python package that carries the model's files, by the name that it is imported under."""
    subfolder: Text = "."
    """Folder of the model's files inside the package."""
    sha256: Sha256 | None = None
    """Expected SHA-256 of model.safetensors."""
    finetuned: Finetuned | None = None
    """Made by the workflow from another model."""

    @model_validator(mode="after")
    def _check(self):
        _exactly_one(self, "hub", "folder", "package", "finetuned")
        _only_with(self, "hub", "revision")
        _only_with(self, "package", "subfolder")
        return self


class Columns(Strict):
    """Names of the columns of a sentence-pair data set."""

    first: Text = "sentence1"
    second: Text = "sentence2"
    label: Text | None = None
    id: Text | None = None
    """Column of the sample's id; without it, the row number."""


class TaskSource(Strict):
    """Where a task's data come from: exactly one of `hub`, `file`, `world`."""

    hub: Text | None = None
    """Hugging Face Hub data set, such as rajpurkar/squad."""
    name: Text | None = None
    """Configuration of the Hub data set, such as mrpc."""
    revision: Text | None = None
    """Hub commit, tag or branch; without it, the current main is resolved once and recorded."""
    split: Text = "validation"
    """Split of the Hub data set that samples and questions are drawn from."""
    training_split: Text = "train"
    """Split of the Hub data set that models are fine-tuned on."""
    file: LocalPath | None = None
    """SQuAD v1.1 JSON for question answering; TSV, CSV, JSONL or Parquet for sentence pairs."""
    training_file: LocalPath | None = None
    """File of the same kind that models are fine-tuned on."""
    world: Literal["question_answering", "paraphrase", "entailment"] | None = None
    """Generated world of fictional people, places, works and events."""
    size: Annotated[int, Field(ge=1)] = 1000
    """Questions or pairs of the generated world that are held out."""
    training_size: Annotated[int, Field(ge=1)] = 4000
    """Questions or pairs of the generated world that models are fine-tuned on."""

    @model_validator(mode="after")
    def _check(self):
        _exactly_one(self, "hub", "file", "world")
        _only_with(self, "hub", "name", "revision", "split", "training_split")
        _only_with(self, "file", "training_file")
        _only_with(self, "world", "size", "training_size")
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
        if self.source.world is not None and (self.source.world == "question_answering") != (
            self.kind == "question_answering"
        ):
            raise ValueError(f"the kind {self.kind} does not fit the world's {self.source.world}")
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
