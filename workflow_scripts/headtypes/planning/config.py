"""The keys of the configuration and what each may hold; files laid over one another; mistakes told by their keys.

A model's name with {seed} or the like is a pattern, and its key `over` says which models it stands for, as in
`bert-{seed}: {source: {folder: models/seed-{seed}}, tasks: [text], over: {seed: 0-24}}`.
"""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from headtypes.analyses.types.names import METHODS
from headtypes.attention.operations import OPERATIONS, Reading, head_of, operation_of
from headtypes.attention.reducers import Of
from headtypes.core.errors import InputError, nearest, one_line, shortened
from headtypes.core.files import StrPath, text_of
from headtypes.data.tasks import KINDS, Kind
from headtypes.papers.registry import PAPERS
from headtypes.training.settings import STRICT, Learning, Positive

Value = int | float | str
_UNKNOWN_KEY = "unknown_key"

_FORMATS = "; ".join(f"{kind.formats} for {kind.title}" for kind in KINDS.values()) + "."

# Names become file names: no separator and no leading dot, so that none can leave the results folder.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=80)]
# Where a pattern among the models may stand, or be replaced: editors allow a {name} in it.
PatternName = Annotated[Name, Field(json_schema_extra={"pattern": r"^[A-Za-z0-9{][A-Za-z0-9_.+{}-]*$"})]
Text = Annotated[str, Field(min_length=1)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

_WORKFLOW = "{workflow}/"  # begins a path that counts from the folder of the workflow, not from the working directory
_ROOT = Path(__file__).resolve().parents[3]


def _expand(path: str) -> str:
    if path.startswith(_WORKFLOW):
        # Relative, so that a folder that was moved with its runs has the same inputs.
        path = os.path.relpath(_ROOT / path.removeprefix(_WORKFLOW))
    # A variable that is not set stays as it is: only selected entries need theirs, and the plan checks them.
    expanded = os.path.expanduser(os.path.expandvars(path))
    if not expanded.isprintable():
        raise ValueError("a path is one line of printable text")
    if re.search(r"[{}]", re.sub(r"\$\{\w+\}", "", expanded)):
        raise ValueError(f"{expanded} has braces, by which Snakemake names wildcards; rename it")
    return os.path.normpath(expanded)


def _module(package: str) -> str:
    if not package.isidentifier():
        raise ValueError(f"{package!r} is not a name that Python can import; such names have letters, digits and _")
    return package


LocalPath = Annotated[Text, AfterValidator(_expand)]


class Strict(BaseModel):
    """A part of the configuration, which refuses unknown keys and does not change after it is read."""

    model_config = STRICT

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key not in cls.model_fields:
                allowed = sorted(cls.model_fields)
                sentence = f"this key is unknown.{nearest(str(key), allowed)} Allowed: {', '.join(allowed)}."
                raise PydanticCustomError(_UNKNOWN_KEY, "{sentence}", {"sentence": sentence, "keys": (str(key),)})
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
    """A model that the workflow fine-tunes. The defaults are those of Devlin et al. 2019 for SQuAD."""

    base: PatternName
    """Model that is fine-tuned."""
    task: PatternName
    """Task whose training data the model learns."""


class Trained(Strict):
    """A small decoder, trained from scratch to copy repeated words, on which detectors can be checked."""

    layers: Annotated[int, Field(ge=1, le=8)]
    """Layers of the model: two are enough for induction heads, and one is not."""


class ModelSource(Strict):
    """The source of a model: exactly one of `hub`, `folder`, `package`, `gguf`, `finetuned`, `trained`."""

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
    """Settings of fine-tuning from another model."""
    trained: Trained | None = None
    """Settings of a decoder trained from scratch to copy, with another seed for each model's name."""

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
    """The source of a task's data: exactly one of `hub`, `file`, `folder`."""

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


def _operation(text: Any) -> Any:
    try:
        operation_of(str(text))
    except InputError as error:
        message = one_line(error)
        raise ValueError(message[0].lower() + message[1:]) from None
    return text


_NUMBERED = "|".join(name + operation.number for name, operation in OPERATIONS.items() if operation.number)
_WRITTEN = [
    {"enum": [name for name, operation in OPERATIONS.items() if re.fullmatch(operation.number, "")]},
    {"pattern": f"^({_NUMBERED})$"},
]
Operation = Annotated[str, BeforeValidator(_operation), Field(json_schema_extra={"anyOf": _WRITTEN})]


def _with_patterns(schema: dict[str, Any]) -> None:
    schema["patternProperties"][r"\{\w+\}"] = next(iter(schema["patternProperties"].values()))


class Task(Strict):
    """A data set, its kind, and how many of its inputs are used."""

    kind: Literal[*KINDS] = "question_answering"
    """Kind of the task: what its inputs are, and what is asked of them."""
    source: TaskSource
    columns: Columns = Columns()
    labels: dict[Text, Text | int | None] = {}
    """For each label of the data that models call otherwise, the models' name for it or, if a model has only the names
    LABEL_0 and so on, its number; null leaves rows with this label out, such as those that nobody could decide."""
    samples: Annotated[int, Field(ge=2)] = 1000
    """Inputs drawn for the distance features (the paper: 1,000)."""
    divided_by: Annotated[list[Literal[*get_args(Of)]], Field(min_length=1)] | None = None
    """What heads are divided by on this task; by default as in `clustering.of`."""
    max_seq_length: Annotated[int, Field(ge=16)] = 128
    """Most tokens of a sample of text, a sentence of a treebank or a part of a document, special tokens included (Clark
    et al. 2019: 128)."""
    questions: Positive | Literal["all"] = "all"
    """Number of questions, pairs or documents of a text on which each ablation is evaluated."""

    @model_validator(mode="after")
    def _check(self):
        parts = (self, self.source, self.columns)
        given = [key for part in parts for key in type(part).model_fields if key in part.model_fields_set]
        for key in given:
            having = [kind.name for kind in KINDS.values() if key in (*kind.keys, *kind.source_keys, *kind.columns)]
            # What no kind names, all have.
            if having and self.kind not in having:
                raise ValueError(f"the key {key} belongs to a task of kind {' or '.join(having)}")
        if self.labels and self.columns.label is None:
            raise ValueError("the key labels needs columns.label, which says where the data's labels are")
        kind = KINDS[self.kind]
        if self.source.hub is not None and kind.form != "table" and type(kind).rows_of_hub is Kind.rows_of_hub:
            raise ValueError(f"a task of kind {self.kind} cannot be read from the Hub; give a local file")
        return self


class Memory(Strict):
    """The most GB of a model's weights on each GPU and in memory, for a model that is larger than a device.

    The rest of the weights is read from disk, layer by layer. Activations need memory in addition.
    """

    gpu: PositiveFloat | None = None
    """Most GB of the weights on each GPU; a job asks for as many GPUs as the weights need."""
    cpu: PositiveFloat | None = None
    """Most GB of the weights in the machine's memory."""

    @model_validator(mode="after")
    def _check(self):
        if self.gpu is None and self.cpu is None:
            raise ValueError("needs gpu, cpu or both, in GB")
        return self


class ModelEntry(Strict):
    """A Transformer, the tasks whose inputs it reads, and the task that it can answer."""

    source: ModelSource
    parent: PatternName | None = None
    """Model that this one was fine-tuned from; only such relatives are compared head by head."""
    family: PatternName | None = None
    """Family of the model, which counts as one when claims are judged over many models; by default the parent's family,
    or else a family of its own."""
    tasks: list[PatternName] = []
    """Tasks on whose inputs heads are measured: features and types on samples, syntax on treebanks, coreference on
    documents with mentions. A model whose heads are only tested by detectors needs none."""
    over: Annotated[dict[Text, Value | list[Value]], Field(min_length=1)] | None = None
    """What each {name} in the model's name stands for: values, ranges such as 0-24 or 0-1000/100, or lists of these.
    The entry stands for one model for each value, which replaces the same {name} in all of the entry."""
    repeat_of: Text | None = None
    """Name of a group of models that differ in their random seed alone; claims are judged on the group, too. By
    default, the models of an entry with {seed} under `over` are a group."""
    evaluate: PatternName | None = None
    """Task that the model was fine-tuned for, or text or choices that a language model predicts; heads are ablated on
    it."""
    memory: Memory | None = None
    """For a model larger than a device, GB of its weights on each GPU and in the memory of the machine."""
    published: Annotated[
        dict[Literal[*PAPERS], Name],
        Field(
            description="Papers to compare this model with: for each, a row of the paper's tables ("
            + "; ".join(f"{paper.name}: {paper.row}" for paper in PAPERS.values())
            + ")."
        ),
    ] = {}


class ClusteringSection(Strict):
    """The settings for dividing heads into types (Guan et al., section 4)."""

    of: Annotated[list[Literal[*get_args(Of)]], Field(min_length=1)] = ["weights"]
    """What heads are divided by: the weights of attention, as in the paper, or the norms of what each token hands over
    (Kobayashi et al. 2020). With norms, extraction reads both; partitions by norms are named
    `{task}-norms-{method}-k{k}`."""
    methods: Annotated[list[Literal[*METHODS]], Field(min_length=1)] = ["kmeans"]
    """Ways of clustering; each makes a partition with each `k`."""
    k: Annotated[list[Annotated[int, Field(ge=2, le=64)]], Field(min_length=1)] = [4]
    """Numbers of types."""
    distance_bins: Literal[1, 2, 4, 8, 16, 32, 64] = 16
    """Distance bins of the feature; any divisor of 64, without a new extraction."""
    scale: bool = False
    """Whether each column of the features is scaled to unit variance first."""
    restarts: Positive = 50
    """Initialisations of a clustering, of which the best is kept."""
    first_token: bool = True
    """Whether the first token of a sample counts as `[CLS]` for models whose tokenizer adds none, without a new
    extraction."""

    def features(self, of: Of = "weights") -> dict:
        first_token = {} if self.first_token else {"first_token": False}
        return {"distance_bins": self.distance_bins, **first_token, **({} if of == "weights" else {"of": of})}


class PartitionEntry(Strict):
    """A division of a model's heads into types, read from a file of the user's."""

    file: LocalPath
    """CSV with the columns layer, head (both from 0) and type."""
    model: Name
    """Model whose heads the partition divides."""
    task: Name
    """Task whose features describe the types, and which the conditions are evaluated on."""


def is_result(path: str) -> bool:
    return path.startswith("results/")


def _python(path: str) -> str:
    if not path.endswith(".py"):
        raise ValueError("the name of a file of Python ends with .py")
    return path


class AnalysisEntry(Strict):
    """An analysis of the user's own, written in a Python file."""

    file: Annotated[LocalPath, AfterValidator(_python)]
    """The Python file, in which one class derives from `HeadAnalysis`."""
    parameters: dict[Text, Any] = {}
    """New values of attributes of this class."""
    inputs: dict[Text, Annotated[Text, AfterValidator(lambda path: path if is_result(path) else _expand(path))]] = {}
    """Files that the analysis reads, by names of your choice: your own files, or results, such as
    `results/gradients/{model}/{task}.csv`."""


class WindowsSection(Strict):
    """The sizes of the windows that a question and its context are cut into; the defaults are those of run_squad."""

    max_seq_length: Annotated[int, Field(ge=16)] = 384
    """Most tokens of a window, or of a question with one of its choices."""
    doc_stride: Positive = 128
    """Tokens between the starts of successive windows."""
    max_query_length: Positive = 64
    """Tokens of a question; of a longer one, only the first are kept."""
    max_answer_length: Positive = 30
    """Most tokens of an answer."""

    @model_validator(mode="after")
    def _check(self):
        # Three special tokens are the most that BERT adds to a pair, four RoBERTa.
        if self.max_seq_length < self.max_query_length + 4 + self.doc_stride:
            raise ValueError(
                "max_seq_length must hold the question, four special tokens and the doc_stride: "
                f"{self.max_seq_length} < {self.max_query_length} + 4 + {self.doc_stride}"
            )
        return self


Ablation = create_model(
    "Ablation",
    __base__=Strict,
    __module__=__name__,
    __doc__=Reading.__doc__,
    **{
        field.name: (Annotated[field.type, Field(description=field.metadata["doc"])], field.default)
        for field in fields(Reading)
    },
)


class Controls(Strict):
    """The settings for controls: each condition is repeated on equally many random heads of the same layers."""

    draws: NonNegativeInt = 20
    """Random draws of heads for each condition, 0 for none."""
    questions: Positive | Literal["all"] = 250
    """How many of the task's questions, pairs or documents each draw is evaluated on."""
    conditions: list[Name] | None = None
    """The conditions that are set beside random heads; without a list, all of them."""


class CompanySection(Strict):
    """The settings for ablating many random sets of heads, to see which heads matter.

    A set has a few heads of each layer or, in models of more than twelve layers, of a random third of the layers.
    """

    sets: NonNegativeInt | None = None
    """Number of sets of heads, 0 for none; by default so many that each head is left out 13 times, and at least 150.
    More sets do not change the first ones, which are not evaluated again."""
    per_layer: Positive | None = None
    """Heads of a layer in each set; by default one in twelve. In models of more than twelve layers, a set has heads of
    a third of the layers."""
    questions: Positive | Literal["all"] = 120
    """How many of the task's questions, pairs or documents each set is evaluated on."""
    operation: Operation = "zero"
    """Operation on the heads of a set, as in `conditions`."""


class Relations(Strict):
    """The settings for measuring heads on the dependency relations of a treebank (Clark et al. 2019, section 4.2)."""

    least: Positive = 100
    """Least number of words of a relation that is listed."""


class CoreferenceSection(Strict):
    """The settings for measuring heads on documents with mentions (Clark et al. 2019, section 4.3)."""

    documents: Literal["first", "chunks"] = "first"
    """What is read of a document: the first words that fit into max_seq_length, or everything, in chunks that fit."""


class Probes(Strict):
    """The settings of parsers that read the attention of all heads (Clark et al. 2019, section 5).

    The parsers are trained on a treebank.
    """

    vectors: LocalPath | None = None
    """File of word vectors in GloVe's text format: a word and its numbers on each line, separated by single spaces.
    Without it, a word's vector is the mean of the model's own input embeddings of its tokens."""
    sentences: Positive | Literal["all"] = "all"
    """Number of training sentences, from the first on, that the probes learn from."""
    seeds: NonNegativeInt = 3
    """Random starts of each probe; 0 for no probes."""
    root: Literal["first", "released"] = "first"
    """Place of the root among the words' vectors: `first`, or as in the `released` code, which gives every candidate
    the vector of the next word and lets a word be its own head."""


class GradientsSection(Strict):
    """The settings for gradients of a model's own loss by attention weights (Clark et al. 2019, section 3.2).

    The results are means of absolute gradients over the attention to each kind of token, such as `[SEP]`.
    """

    samples: NonNegativeInt = 200
    """Number of a task's samples, questions or pairs on which gradients are taken; 0 for no gradients."""


class Detectors(Strict):
    """Settings of detectors, which find heads that attend by position or to repeated tokens (Olsson et al. 2022)."""

    models: list[PatternName] = []
    """Models whose heads are tested on random tokens."""


class Tests(Strict):
    """The settings for families of tests, whose p-values are corrected together by Holm's procedure.

    Two more families, each with a test for every head of a model, have no setting here: whether leaving out a head
    costs anything, and whether a detector finds a head. All other results have no p-values.
    """

    claims: list[Literal["stated", "inferred", "from_table"]] = ["stated", "inferred", "from_table"]
    """The papers' claims that are tested, by what they rest on; one family for each model and partition or task."""
    types: list[Name] = ["norms", "same_word", "outputs", "gradients", "divergence", "relations", "coreference"]
    """Analyses in which the types of a partition are tested beside random heads."""


class Compute(Strict):
    """The precision and batch size of a forward pass."""

    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    """Precision of the forward pass. A processor without instructions for bfloat16 computes in float32 instead, and the
    record of the result says so (`computed_in`)."""
    batch_tokens: Annotated[int, Field(ge=512)] = 4096
    """Most tokens of a batch, padding included."""


class Select(Strict):
    """The names of the models, tasks and conditions that are used; without a list, all of them are used.

    If a list of conditions is not empty and has no baseline (a condition that changes no head), a baseline is added.
    With an empty list of conditions, nothing is evaluated.
    """

    models: Annotated[list[PatternName], Field(min_length=1)] | None = None
    tasks: Annotated[list[Name], Field(min_length=1)] | None = None
    conditions: list[Name] | None = None


class Config(Strict):
    """The whole configuration: one field for each section."""

    seed: NonNegativeInt = 2020
    """Every random choice is seeded by this number, the stage, and what the choice is for."""
    tasks: Annotated[dict[Name, Task], Field(min_length=1)]
    models: Annotated[dict[Name, ModelEntry], Field(min_length=1, json_schema_extra=_with_patterns)]
    clustering: ClusteringSection = ClusteringSection()
    partitions: dict[Name, PartitionEntry] = {}
    analyses: dict[Name, AnalysisEntry] = {}
    windows: WindowsSection = WindowsSection()
    ablation: Ablation = Ablation()
    readings: dict[Name, Ablation] = {}
    """Further readings by name, each laid over `ablation`, as `{segments: {sentences: segments}}`: a condition that a
    reading changes is evaluated under it as well."""
    conditions: dict[Name, dict[Name, Operation]] = {}
    """Name of a condition: what is done to the heads of each type, or to one head (layer-head, both counted from 1);
    heads not named are kept."""
    controls: Controls = Controls()
    company: CompanySection = CompanySection()
    relations: Relations = Relations()
    coreference: CoreferenceSection = CoreferenceSection()
    probes: Probes = Probes()
    gradients: GradientsSection = GradientsSection()
    detectors: Detectors = Detectors()
    tests: Tests = Tests()
    compute: Compute = Compute()
    select: Select = Select()

    def clusterings(self, task: str) -> dict[str, tuple[str, int, Of]]:
        """Return {name of partition: (method, k, features: "weights" or "norms")} of a task's clusterings of heads."""
        return {
            f"{task}-{'' if of == 'weights' else f'{of}-'}{method}-k{k}": (method, k, of)
            for of in self.divided_by(task)
            for method in self.clustering.methods
            for k in self.clustering.k
        }

    def divided_by(self, task: str) -> list[Of]:
        return list(dict.fromkeys(self.tasks[task].divided_by or self.clustering.of))

    def has_features(self, task: str) -> bool:
        return "samples" in KINDS[self.tasks[task].kind].keys

    def parent(self, model: str) -> str | None:
        finetuned = self.models[model].source.finetuned
        return finetuned.base if finetuned else self.models[model].parent

    def family(self, model: str) -> str:
        """Return the family of a model: that of the model it is fine-tuned from, else its key `family` or its name."""
        parent = self.parent(model)
        return self.family(parent) if parent else self.models[model].family or model

    def made_from(self, model: str) -> list[str]:
        finetuned = self.models[model].source.finetuned
        return [model, *(self.made_from(finetuned.base) if finetuned else ())]


def changes_nothing(condition: Mapping[str, str]) -> bool:
    return all(operation_of(operation).change is None for operation in condition.values())


def types_of(condition: Iterable[str]) -> list[str]:
    """Return the types among the keys of a condition, without keys that are single heads, such as 2-3."""
    return [target for target in condition if head_of(target) is None]


_REGISTRIES = tuple(name for name, field in Config.model_fields.items() if get_origin(field.annotation) is dict)
_MISTAKE = "config: "
_SHOWN = 80  # characters of a wrong value
_VARIABLE = re.compile(r"(?<!\$)\{(\w+)\}")
_RANGE = re.compile(r"(\d+)-(\d+)(?:/([1-9]\d*))?")
# Models that one entry may stand for, and digits of a number in a range: more do not end, or cannot be read.
_MOST, _DIGITS = 10_000, 12
_NAMING = ("select", "detectors")


class ConfigError(InputError):
    """An error on all mistakes in a configuration; the message has the key, a sentence and the place of each mistake.

    mistakes: (key, sentence) pairs. A nested key is written `a.b`; "" means the whole configuration.
    places: {key: file and line}. If a mistake's key has no place, the place of the section around it is reported.
    """

    def __init__(self, mistakes: Iterable[tuple[str, str]], places: Mapping[str, str] | None = None):
        self.mistakes = list(dict.fromkeys(mistakes))
        super().__init__(" ".join(_line(key, text, places or {}) for key, text in self.mistakes))


def _line(key: str, text: str, places: Mapping[str, str]) -> str:
    parts = key.split(".")
    above = (places.get(".".join(parts[:length])) for length in range(len(parts), 0, -1))
    place = next(filter(None, above), None)
    return f"{_MISTAKE}{f'{key}: ' if key else ''}{text}{f' [{place}]' if place else ''}"


def mistakes_in(message: str) -> list[str]:
    return re.split(f" (?={_MISTAKE})", message)


def unknown(name: str, known: Iterable[str]) -> str:
    return f'there is no "{name}".{nearest(name, known)} Known: {", ".join(sorted(known))}.'


def _key(problem: dict, raw: Any) -> str:
    # Branches of unions are no keys.
    keys, here = [], raw
    for part in problem["loc"]:
        is_index = isinstance(here, list) and isinstance(part, int) and part < len(here)
        if is_index or (isinstance(here, dict) and part in here):
            here = here[part]
            keys.append(str(part))
    lacking = [problem["loc"][-1]] if problem["type"] == "missing" else []
    return ".".join([*keys, *lacking, *problem.get("ctx", {}).get("keys", ())])


def _text(problem: dict) -> str:
    kind, value, text = problem["type"], problem["input"], problem["msg"][0].lower() + problem["msg"][1:]
    if kind == "missing":
        return "this key is missing"
    if kind == _UNKNOWN_KEY:
        return text
    if kind == "value_error":
        return str(problem["ctx"]["error"])
    advice = ""
    if kind == "literal_error":
        advice = nearest(str(value), re.findall(r"'([^']+)'", problem["ctx"]["expected"])).replace(" D", ". D", 1)
    elif kind == "float_type" and isinstance(value, str) and re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", value):
        # YAML reads 1e-4 as text.
        advice = "; write a decimal point, as in 1.0e-4"
    elif kind == "int_type" and isinstance(value, str) and re.fullmatch(r"\d+", value):
        advice = "; write it without quotes, and into a file rather than behind --config"
    elif kind == "list_type" and not isinstance(value, dict | None):
        advice = f"; write [{value}]"
    elif kind in ("model_type", "dict_type"):
        text = "a mapping of keys is needed"
    shown = repr(value)
    return f"{text}; found {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'}{advice}"


def read_config(raw: dict[str, Any]) -> Config:
    """Return a checked `Config`, with patterns such as bert-{seed} expanded; raise `ConfigError` with all mistakes."""
    raw = expanded(raw) if isinstance(raw, dict) else raw
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        by_key: dict[str, list[str]] = {}
        for problem in error.errors(include_url=False):
            by_key.setdefault(_key(problem, raw), []).append(_text(problem))
        told = {key: "; or ".join(texts) for key, texts in by_key.items()}
        raise ConfigError((key, text if text[-1] in ".?" else f"{text}.") for key, text in told.items()) from None


class Layers(NamedTuple):
    """The joined values of configuration files, and {key, such as a.b: "FILE, line 3" or "--config", which set it}."""

    values: dict[str, Any]
    places: dict[str, str]


def laid_over(files: Iterable[StrPath], given: Mapping[str, Any] | None = None) -> Layers:
    """Return the joined values of configuration files, and for each key the file and line, or "--config", that set it.

    files: paths of YAML or JSON files; later ones win over earlier ones. given: values of --config, which win over all.
    A `null` removes a whole section, or one entry of a section with names as keys (such as `models`).
    """
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for file in map(str, files):
        values = _over(values, _read(file, places), file)
    return Layers(_over(values, given or {}, "--config"), places | dict.fromkeys(_keys(given or {}), "--config"))


def _over(below: Any, above: Mapping, where: str, keys: tuple[str, ...] = ()) -> dict[str, Any]:
    result = dict(below) if isinstance(below, Mapping) else {}
    for key, value in above.items():
        if isinstance(value, Mapping):
            result[key] = _over(result.get(key), value, where, (*keys, key))
        elif value is None and not keys and key in Config.model_fields:
            result.pop(key, None)
        elif value is None and len(keys) == 1 and keys[0] in _REGISTRIES:
            if key not in result:
                raise InputError(
                    f"{where}: {keys[0]}.{key}: null takes an entry away from what lies below, and there is none of "
                    f"this name.{nearest(str(key), map(str, result))}"
                )
            del result[key]
        else:
            result[key] = value
    return result


def _read(file: str, places: dict[str, str]) -> dict[str, Any]:
    try:
        loader = yaml.SafeLoader(text_of(file))
        if (node := loader.get_single_node()) is None:
            return {}
        _note(node, file, "", places)
        values = loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file} cannot be read as YAML ({one_line(error)}); correct it.") from None
    if not isinstance(values, dict):
        raise InputError(f"{file} holds no keys; name a file of the configuration.")
    return values


def _note(node: yaml.Node, file: str, path: str, places: dict[str, str]) -> None:
    lines: dict[str, int] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        name, line = f"{path}{key.value}", key.start_mark.line + 1
        if name in lines:
            raise InputError(f"{file}, line {line}: the key {name} stands there twice, first in line {lines[name]}.")
        if isinstance(value, yaml.ScalarNode) and value.tag.endswith(":null") and not value.value:
            raise InputError(f"{file}, line {line}: nothing stands behind the key {name}; write a value, {{}} or null.")
        lines[name] = line
        places[name] = f"{min(os.path.relpath(file), file, key=len)}, line {line}"
        _note(value, file, f"{name}.", places)


def _keys(part: Mapping, path: str = "") -> Iterator[str]:
    for key, below in part.items():
        yield f"{path}{key}"
        yield from _keys(below, f"{path}{key}.") if isinstance(below, Mapping) else ()


def expanded(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a configuration, with each pattern such as bert-{seed} replaced by its models."""
    models = raw.get("models")
    if not isinstance(models, Mapping):
        return raw
    entries: dict[str, Any] = {}
    names: dict[str, list[str]] = {}
    for key, entry in models.items():
        has_variable = isinstance(key, str) and _VARIABLE.search(key) is not None
        is_pattern = has_variable or (isinstance(entry, Mapping) and "over" in entry)
        expansion = list(_models(key, entry)) if is_pattern else [(key, entry)]
        names[key] = [name for name, _ in expansion]
        for name, filled in expansion:
            if name in entries:
                raise ConfigError([(f"models.{key}", f"another entry gives a model the name {name}, too; rename one.")])
            entries[name] = filled
    patterns = {key: models for key, models in names.items() if models != [key]}
    return {**raw, "models": entries, **_named(raw, patterns)} if patterns else raw


def _models(key: Any, entry: Any) -> Iterator[tuple[str, Any]]:
    where = f"models.{key}"
    over = entry.get("over") if isinstance(entry, Mapping) else None
    if not isinstance(over, Mapping) or not over:
        raise ConfigError([(where, "a name with braces needs `over`, such as over: {seed: 0-24}.")])
    values = {str(name): list(_values(f"{where}.over.{name}", given)) for name, given in over.items()}
    for name in values.keys() - set(_VARIABLE.findall(str(key))):
        raise ConfigError([(f"{where}.over.{name}", f"write {{{name}}} into the name, which all would share.")])
    if not all(values.values()):
        raise ConfigError([(f"{where}.over", "a list is empty; name at least one value.")])
    if math.prod(map(len, values.values())) > _MOST:
        raise ConfigError([(f"{where}.over", f"these are more than {_MOST} models; name fewer.")])
    kept = {name: part for name, part in entry.items() if name != "over"}
    for chosen in product(*values.values()):
        known = dict(zip(values, chosen, strict=True))
        repeats = {"repeat_of": _filled(key, known | {"seed": "{seed}"}, where)} if "seed" in known else {}
        yield _filled(key, known, where), repeats | _filled(kept, known, where)


# Of one value, a range such as 0-24 or 0-1000/100 (first-last/step), or a list of both.
def _values(where: str, given: Any) -> Iterator[Value]:
    for value in given if isinstance(given, list) else [given]:
        if isinstance(value, bool) or not isinstance(value, Value):
            raise ConfigError([(where, f"{value!r} is neither a number nor text, such as 3 or 0-24.")])
        if not isinstance(value, str) or not (match := _RANGE.fullmatch(value)):
            yield value
            continue
        first, last, step = match.groups()
        is_readable = max(map(len, (first, last, step or ""))) <= _DIGITS
        if not is_readable or len(numbers := range(int(first), int(last) + 1, int(step or 1))) > _MOST:
            raise ConfigError([(where, f"the range {shortened(value)} is too long; name at most {_MOST} models.")])
        if not numbers:
            raise ConfigError([(where, f"the range {value} ends before it begins; write {last}-{first}.")])
        # Numbers have the leading zeros of the first.
        padded = first.startswith("0") and len(first) > 1
        yield from (f"{number:0{len(first)}}" for number in numbers) if padded else numbers


def _filled(part: Any, known: Mapping[str, Value], where: str) -> Any:
    if isinstance(part, Mapping):
        return {name: _filled(below, known, f"{where}.{name}") for name, below in part.items()}
    if isinstance(part, list):
        return [_filled(below, known, where) for below in part]
    if not isinstance(part, str):
        return part
    for name in _VARIABLE.findall(part):
        if name not in known:
            raise ConfigError([(where, f"over does not say what {{{name}}} is.")])
    # A text that is one variable alone becomes the value itself, and not text.
    alone = _VARIABLE.fullmatch(part)
    return known[alone[1]] if alone else _VARIABLE.sub(lambda found: str(known[found[1]]), part)


def _named(raw: Mapping[str, Any], patterns: Mapping[str, list[str]]) -> dict[str, Any]:
    sections = {}
    for section in _NAMING:
        part = raw.get(section)
        if isinstance(part, Mapping) and isinstance(listed := part.get("models"), list):
            named = (patterns.get(name, [name]) if isinstance(name, str) else [name] for name in listed)
            sections[section] = {**part, "models": list(chain.from_iterable(named))}
    return sections
