"""The sizes of models and texts before the workflow has fetched them."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError
from safetensors import SafetensorError
from tokenizers import Tokenizer

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, read_json
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.registry import read_rows
from headtypes.data.records import write_records
from headtypes.data.sampling import sample_inputs, sample_questions
from headtypes.models.files import place_of, weight_files
from headtypes.models.formats.gguf_files import Header, read_header
from headtypes.models.formats.quantised import numbers_in
from headtypes.models.outline import heads_said, layers_said
from headtypes.planning.config.schema import Windows
from headtypes.planning.config.sources import ModelSource
from headtypes.planning.plan import Plan
from headtypes.planning.resources import UNKNOWN, ModelSize, Sizes, Texts, model_size, texts_in, texts_of
from headtypes.planning.stages.registry import STAGES
from headtypes.training.settings import COPYING_SIZES

# The rule that fetches each of a task's files of rows, by its folder.
_FETCHED_BY = {"tasks": "fetch_task", "training": "fetch_training", "test": "fetch_test"}
# Questions of SQuAD's dev set, and bytes of each with its context: for data that are on the Hub.
_ROWS, _BYTES = 10_570, 1_060


class ExpectedSizes(Sizes):
    """The sizes of a job's inputs, some of which are not there yet.

    What is on this machine, or is generated, is read as the workflow would read it. Where a model or data are still on
    the Hub, the model counts as BERT-large and the data as SQuAD's dev set, and `assumed` names them. So do data that
    cannot be read; `refused` says why, by the name of the task.
    """

    def __init__(self, plan: Plan, results: Path, scratch: Path):
        """plan: of the configuration; results: the folder of results; scratch: a folder for rows until they are."""
        self.assumed: set[str] = set()
        self.refused: dict[str, str] = {}
        self._plan, self._results, self._scratch = plan, results, scratch
        self._made: dict[str, float] = {}
        self._rows_of: dict[Path, Path | None] = {}
        self._of_source, self._begins_plainly = cache(_of_source), cache(_begins_plainly)

    def expect(self, file: str, megabytes: float) -> None:
        """Say how large a file will be, which `megabytes` counts until it is there."""
        self._made[file] = megabytes

    def megabytes(self, files: Iterable[StrPath]) -> float:
        """The size of some files together."""
        return sum(
            Path(file).stat().st_size / 1e6 if Path(file).is_file() else self._made.get(str(file), 0) for file in files
        )

    def model(self, record: StrPath) -> ModelSize:
        """The size of a model, from its record or else from where it will come from."""
        if Path(record).is_file():
            return model_size(record)
        name, source = self._source(Path(record).stem)
        size = self._of_source(source)
        if size is None:
            self.assumed.add(f"models.{name}")
        return size or UNKNOWN

    def stores_first_token(self, model: str) -> bool:
        """Whether the features of a model hold its attention to the first token on its own, as those of decoders do."""
        return self._begins_plainly(self._source(model)[1])

    def _source(self, name: str) -> tuple[str, ModelSource]:
        """A model and its source; of one that the workflow makes, those of the model that it is made of."""
        source = self._plan.config.models[name].source
        while (of := source.finetuned or source.checkpoint) is not None:
            name = of.base if source.finetuned else of.of
            source = self._plan.config.models[name].source
        return name, source

    def is_to_be_downloaded(self, model: str) -> bool:
        """Whether a model is on the Hub and not on this machine."""
        source = self._plan.config.models[model].source
        return source.hub is not None and self._of_source(source) is None

    def texts(self, rows: StrPath, windows: Windows | None = None) -> Texts:
        """The size of the texts in a file that is there, or will be; or of the windows that they are cut into."""
        path = Path(rows)
        if path.is_file():
            return texts_of(path, windows)
        file = self._expected(path)
        if file is not None:
            return texts_of(file, windows)
        self.assumed.add(f"tasks.{path.stem}")
        return _assumed(self._number(path), windows)

    def _expected(self, path: Path) -> Path | None:
        """A file with the rows that another will have; None where they are not known, or cannot be read."""
        if path not in self._rows_of:
            *folders, name = path.relative_to(self._results).parts
            file = self._scratch.joinpath(*folders, name)
            try:
                rows = self._rows(folders, path.stem)
                if rows is not None:
                    write_records(file, rows)
            except InputError as error:
                rows, self.refused[path.stem] = None, str(error)
            self._rows_of[path] = None if rows is None else file
        return self._rows_of[path]

    def _rows(self, folders: list[str], task: str) -> list | None:
        kind = self._plan.kind_of(task).name
        if folders[0] == "sources":
            spec = STAGES[_FETCHED_BY[folders[1]]](self._plan, task)
            return None if "hub" in spec["source"] else fetch_task(**spec)[0]
        source = self._results / "sources" / "tasks" / f"{task}.jsonl"
        file = source if source.is_file() else self._expected(source)
        if file is None:
            return None
        rows = read_rows(file, kind)
        if folders[0] == "samples":
            return sample_inputs(rows, **STAGES["sample_inputs"](self._plan, task))
        return sample_questions(rows, **STAGES["sample_questions"](self._plan, task))

    def _number(self, path: Path) -> int:
        entry, folder = self._plan.config.tasks[path.stem], path.relative_to(self._results).parts[0]
        wanted = {"samples": entry.samples, "questions": entry.questions}.get(folder)
        return min(wanted, _ROWS) if isinstance(wanted, int) else _ROWS


@cache
def _assumed(number: int, windows: Windows | None) -> Texts:
    return texts_in([_BYTES] * number, windows)


def _of_source(source: ModelSource) -> ModelSize | None:
    """The size of a model that is on this machine; None where it is not, or cannot be read."""
    if source.trained is not None:
        width, heads, longest = (
            COPYING_SIZES[name] for name in ("hidden_size", "num_attention_heads", "max_position_embeddings")
        )
        return ModelSize(source.trained.layers, heads, width, 12 * source.trained.layers * width**2, longest)
    try:
        folder, gguf = _place(source)
        if gguf is not None:
            return _of_gguf(read_header(folder / gguf))
        if not weight_files(folder, pickle=True):
            return None  # As where a download has been cut off.
        config, parameters = read_json(folder / "config.json"), sum(map(numbers_in, weight_files(folder)))
        (layers, with_heads), heads = layers_said(config), heads_said(config)
        if layers is None or heads is None:
            return None
        return ModelSize(
            with_heads or layers,
            heads,
            config.get("hidden_size") or config.get("d_model") or 64 * heads,
            parameters,
            config.get("max_position_embeddings") or UNKNOWN.max_length,
        )
    except (InputError, OSError, LocalEntryNotFoundError, SafetensorError, KeyError, TypeError, AttributeError):
        return None


def _place(source: ModelSource) -> tuple[Path, str | None]:
    """Where a model's files are on this machine, as `files.place_of` gives it."""
    if source.hub is not None:
        return Path(snapshot_download(source.hub, revision=source.revision, local_files_only=True)), None
    return place_of(source.model_dump())


def _begins_plainly(source: ModelSource) -> bool:
    """Whether a model's tokenizer begins a text with none of its special tokens; not where that cannot be read."""
    try:
        folder, gguf = _place(source)
        if gguf is not None:
            values = read_header(folder / gguf).values
            # As llama.cpp has it where a file does not say.
            otherwise = values.get("tokenizer.ggml.model") == "llama"
            return not values.get("tokenizer.ggml.add_bos_token", otherwise)
        return not Tokenizer.from_file(str(folder / "tokenizer.json")).encode("a").special_tokens_mask[0]
    except Exception:  # Damaged tokenizers fail in many ways, which the job itself will tell.
        return False


def _of_gguf(header: Header) -> ModelSize | None:
    names = ("block_count", "attention.head_count", "embedding_length")
    layers, heads, width = (header.of_model(name) for name in names)
    if layers is None or heads is None or width is None:
        return None
    longest = header.of_model("context_length") or UNKNOWN.max_length
    return ModelSize(layers, heads, width, sum(header.tensors.values()), longest)
