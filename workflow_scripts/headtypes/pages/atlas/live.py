"""A loaded model in the atlas: its attention in a text that somebody types, and its answers without some heads."""

import json
import re
import secrets
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor
from tqdm import tqdm

from headtypes.analyses.distances.features import head_features, lacks_cls, split
from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.analyses.maps import AttentionMaps, KeyLengthsRead, Maps, readable
from headtypes.attention.ablate import Ablation
from headtypes.attention.hook import Batch, Hook, run_batches
from headtypes.attention.norms import KeyLengths
from headtypes.attention.one_pass import AttentionReader
from headtypes.attention.operations import Reading, operations_by_head
from headtypes.attention.reducers import Pass, Reducer
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded, encode_samples
from headtypes.data.tasks import Sample
from headtypes.data.windows import check_finite, without_space
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import HEADS, MissingHeadError, load_model
from headtypes.models.model_config import layers_and_heads
from headtypes.models.records import ModelRecord
from headtypes.pages.atlas.page import ResultFiles, about_model, gather, numbers_on, page_of

# What the text is called, and the tokens after which it is cut.
NAME, LONGEST = "your text", 128
# Candidates that are shown of either answer; tokens of the longest answer.
_SHOWN, _LONGEST_ANSWER = 5, 30
_EXAMPLE = "The cat sat on the mat because it was tired."
# What a model with a head asks for, and a text and a second one to begin with.
_BEGINNINGS = {
    "question_answering": ("Write a question, and below it the text that answers it.", "Who sat on the mat?", _EXAMPLE),
    "masked_lm": ("Write {mask} for each word that is to be guessed.", "The cat sat on the {mask}.", None),
    None: ("The weights have no head that answers anything: attention alone changes.", _EXAMPLE, None),
}


def seen(model: Mapping, encoded: Encoded, read: Callable, tokenizer, files: ResultFiles, **features) -> dict:
    """Return the data of a model's page, as `gather` does, with its attention on one input (one text, or two together).

    model: the result of `about_model`. encoded: the input as tokens.
    read: function from reducers (objects that read attention) to a list of their results on the input. If `read` raises
        `InputError` for the reducer of norms, the data are without norms.
    files: the model's results, {kind of result: [(task or partition, path)]}.
    features: distance_bins, the number of bins of the distance feature; and first_token, whether the first token of a
        text without `[CLS]` counts as `[CLS]`.
    Raises `InputError` if a head's attention is not finite, or does not sum to one.
    """
    bins, of_first = features["distance_bins"], features.get("first_token", True)
    reducers = [Maps(), DistanceFeatures(encoded.kinds, of_first and lacks_cls(encoded.kinds))]
    results = None
    with suppress(InputError):
        results = read(*reducers, KeyLengthsRead())
    (attention,), (shares,), *lengths = results or read(*reducers)
    tokens = [readable(tokenizer, token) for token in encoded.input_ids[0]]
    maps = AttentionMaps(attention, tokens, NAME, bool(encoded.truncated[0]), *(of_text for (of_text,) in lengths))
    data = gather(model, [(NAME, [maps])], files, distance_bins=bins, conditions={})
    distance, first = split(shares)
    values = np.concatenate(head_features(distance, bins, first))
    numbers = numbers_on(NAME, values, encoded.lengths, bins, first is not None)
    return {**data, "title": f"A text of yours in {model['name']}", "features": numbers}


class Answer(NamedTuple):
    """The answer of a model to a text: candidates, such as words, each with a value.

    title: what is answered, such as "next token". values: [candidate], in `unit`, which is "" for probabilities.
    name: function from a candidate's index in `values` to its text.
    """

    title: str
    values: Tensor
    name: Callable[[int], str]
    unit: str = ""

    def beside(self, whole: "Answer") -> dict:
        """Return {"title", "unit", "rows"}; a row: [candidate's text, its value in `whole`, its value in this answer].

        whole: the model's answer with all heads. The rows are the candidates with the five largest values in either
            answer, by falling value in `whole`.
        """
        best = {top for values in (whole.values, self.values) for top in np.argsort(-values.numpy())[:_SHOWN].tolist()}
        order = sorted(best, key=lambda candidate: -whole.values[candidate])
        rows = [[self.name(index), float(whole.values[index]), float(self.values[index])] for index in order]
        return {"title": self.title, "unit": self.unit, "rows": rows}


class Live:
    """A loaded model that gives its answers to a text with some heads off. An object is not safe in several threads."""

    def __init__(self, record: ModelRecord, files: ResultFiles, *, precision: str, **features: int | bool):
        """Load the model with the output layer that its weights were saved with, such as a classifier, if any.

        files: paths of the model's results, {kind of result: [(task or partition, path)]}. precision: such as float32.
        features: distance_bins and first_token, settings of the distance feature that `seen` explains.
        """
        self.record, self._files, self._features = record, files, features
        named = record.architectures or ()
        saved = [name for name, head in HEADS.items() if name and head.types.get(record.model_type) in named]
        self._head = saved[0] if saved else record.language_head
        try:
            self._model = load_model(record, precision, self._head)
        except MissingHeadError:
            self._model, self._head = load_model(record, precision), None
        self._tokenizer = load_tokenizer(record)
        # From one click to the next the text stays the same.
        self._text = lru_cache(maxsize=1)(self._read_whole)

    def page(self, first: str | None = None, second: str | None = None) -> dict:
        """Return the data of the model's page on one or two texts or, without `first`, on an example.

        The result is that of `read`, with "live" in place of "answers": {"asks": a request to the user, "first" and
        "second": the texts shown, such as question and context, "answers": the list that `read` describes}.
        """
        beginning = _BEGINNINGS.get(self._head, ("", _EXAMPLE, None))
        asks, *example = (text and text.format(mask=self._tokenizer.mask_token) for text in beginning)
        first, second = example if first is None else (first, second)
        read = self.read(first, second, [], self._files)
        live = {"asks": asks, "first": first, "second": second or "", "answers": read.pop("answers")}
        return {**read, "live": live}

    def read(self, first: str, second: str | None, off: Sequence[str], files: ResultFiles | None = None) -> dict:
        """Return the data of the model's page on one or two texts, as `gather` does, and "answers", a list.

        For each answer of the model, such as one for each mask, the list has a result of `Answer.beside`: values
        without the heads in `off`, and with all heads. The list is empty if the model answers nothing.
        off: names of heads, such as "3-12" (layer-head, from 1); the attention of these heads stays in the data.
        files: results to show, {kind of result: [(task or partition, path)]}; None for none.
        Raises `InputError` if a text is empty, or the model has no head of a name in `off`.
        """
        sample, encoded, whole = self._text(first, second or None)
        answers: list[Answer] = []

        def read(*reducers: Reducer) -> list:
            answers[:] = self._pass(sample, encoded, off, reducers)
            return [reducer.result() for reducer in reducers]

        data = seen(about_model(self.record), encoded, read, self._tokenizer, files or {}, **self._features)
        return {**data, "answers": [now.beside(before) for now, before in zip(answers, whole, strict=True)]}

    def _read_whole(self, first: str, second: str | None) -> tuple[Sample, Encoded, list[Answer]]:
        if not all(text.strip() for text in (first, second) if text is not None):
            raise InputError("The text is empty; write one.")
        kind = "question_answering" if self._head == "question_answering" else "sentence_pair"
        sample = Sample(NAME, first, second)
        encoded = encode_samples([sample], self._tokenizer, kind, min(LONGEST, self.record.max_length))
        return sample, encoded, self._pass(sample, encoded, [], [])

    def _pass(self, sample: Sample, encoded: Encoded, off: Sequence[str], reducers: Sequence[Reducer]) -> list[Answer]:
        model, what = self._model, f"{self.record.name} on {NAME}"
        without_types = np.full((self.record.layers, self.record.heads), None, dtype=object)
        operations = operations_by_head(without_types, dict.fromkeys(off, "zero"), "off")
        for reducer in reducers:
            reducer.begin(Pass(1, *layers_and_heads(model), model.dtype))
        lengths = KeyLengths(model) if any(reducer.of == "norms" for reducer in reducers) else None
        answers = []

        def read_batch(batch: Batch, forward: Callable[[Hook], Any]) -> None:
            reader = AttentionReader(reducers, batch, lengths)
            ablation = Ablation(operations, [np.zeros(length) for length in batch.lengths], Reading())
            # Of each layer the attention is read, and then what its heads hand on is changed.
            output = forward(lambda number, layer: (reader(number, layer), ablation(number, layer))[1])
            reader.finish(what)
            answers[:] = self._answers(output, sample, encoded.input_ids[0])

        silent = tqdm(disable=True)
        run_batches(model, encoded.input_ids, encoded.token_types, read_batch, batch_tokens=1, bar=silent)
        return answers

    def _answers(self, output: Any, sample: Sample, ids: list[int]) -> list[Answer]:
        if self._head == "question_answering":
            return self._spans(output, sample, len(ids)) if sample.second else []
        logits = None if self._head is None else _finite(output.logits[0])
        if self._head == "sequence_classification":
            label = self._model.config.id2label.get
            if len(logits) == 1:
                return [Answer("value", logits, label, "without a unit")]
            several = self._model.config.problem_type == "multi_label_classification"
            return [Answer("class", logits.sigmoid() if several else logits.softmax(0), label)]
        word, mask = partial(readable, self._tokenizer), self._tokenizer.mask_token
        if self._head == "masked_lm":
            masks = [at for at, token in enumerate(ids) if token == self._tokenizer.mask_token_id]
            return [Answer(f"{mask} {number}", logits[at].softmax(0), word) for number, at in enumerate(masks, 1)]
        if self._head == "causal_lm":
            losses = -logits[:-1].log_softmax(-1).gather(1, torch.tensor(ids)[1:, None])
            mean = Answer("loss", losses.mean(0), lambda _: f"mean over {len(losses)} tokens", "nats per token")
            return [Answer("next token", logits[-1].softmax(0), word), *([mean] if len(losses) else [])]
        return []

    def _spans(self, output: Any, sample: Sample, length: int) -> list[Answer]:
        # A span's score is start logit plus end logit (Devlin et al. 2019, section 4.2), its probability their softmax.
        cut = {"truncation": "only_second", "max_length": length}
        read = self._tokenizer(sample.first, sample.second, **cut, return_offsets_mapping=True)
        in_text = torch.tensor([sequence == 1 for sequence in read.sequence_ids(0)])
        distance = torch.arange(length) - torch.arange(length)[:, None]
        allowed = (distance >= 0) & (distance < _LONGEST_ANSWER) & in_text & in_text[:, None]
        start, end = (_finite(logits[0]) for logits in (output.start_logits, output.end_logits))
        scores = (start[:, None] + end).masked_fill(~allowed, -torch.inf)
        offsets = [without_space(sample.second, *span) for span in read["offset_mapping"]]

        def name(span: int) -> str:
            first, last = divmod(span, length)
            return sample.second[offsets[first][0] : offsets[last][1]]

        return [Answer("answer", scores.flatten().softmax(0), name)] if allowed.any() else []


def _finite(logits: Tensor) -> Tensor:
    values = logits.double().cpu()
    check_finite(values.numpy(), "logits are")
    return values


LOOPBACK = "127.0.0.1"
# Also through a port that is forwarded from another machine.
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]+)?")
_LENGTH = re.compile("[0-9]{1,6}")


class Request(BaseModel):
    """A question that a page sends to the server: one or two texts, and heads that are off, as `layer-head` from 1."""

    model_config = ConfigDict(extra="forbid", strict=True)

    first: str
    second: str | None = None
    off: list[str] = []


class LiveServer(ThreadingHTTPServer):
    """A server of a model's page on the loopback address, below a random path; requests of other sites are refused.

    texts: two texts to show first; the second None for a single one, both None for an example. port: 0 for a free one.
    """

    daemon_threads = True

    def __init__(self, live: Live, texts: tuple[str | None, str | None], port: int = 0):
        self.live, self.turn = live, threading.Lock()
        self.page = page_of(live.page(*texts), {"model": live.record.name})
        self.path = f"/{secrets.token_urlsafe(24)}/"
        super().__init__((LOOPBACK, port), _Handler)

    def handle_error(self, request, client_address) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}{self.path}"


class _Handler(BaseHTTPRequestHandler):
    server: LiveServer
    # Seconds that a browser may take to send what it said it would.
    timeout = 20

    def do_GET(self) -> None:
        if self._is_own(self.server.path):
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)

    def do_POST(self) -> None:
        if not self._is_own(f"{self.server.path}read"):
            return
        status = HTTPStatus.BAD_REQUEST
        try:
            length = self.headers["Content-Length"] or ""
            if not _LENGTH.fullmatch(length):
                raise InputError(f"Content-Length is {length[:20]!r}; send a question of 1 to 999999 bytes.")
            asked = Request.model_validate_json(self.rfile.read(int(length)))
            with self.server.turn:
                read = self.server.live.read(**dict(asked))
            status = HTTPStatus.OK
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(map(str, problem["loc"])) or "the question"
            read = {"error": f"{where}: {problem['msg']}; reload the page."}
        except (InputError, TimeoutError) as error:
            read = {"error": str(error)}
        except Exception:
            traceback.print_exc()
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            read = {"error": "The model failed on this; its terminal says how."}
        self._send(status, "application/json", json.dumps(read, allow_nan=False))

    def log_message(self, *_) -> None:
        """Print nothing, since the texts that a user types are private."""

    def _is_own(self, path: str) -> bool:
        host, origin = (self.headers[name] or "" for name in ("Host", "Origin"))
        is_here = _HOST.fullmatch(host) and origin in ("", f"http://{host}")
        is_own = bool(is_here) and secrets.compare_digest(self.path.encode(), path.encode())
        if not is_own:
            self.send_error(HTTPStatus.FORBIDDEN, "Only the page whose address look.py printed is served.")
        return is_own

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        self.send_response(status)
        headers = {"Content-Type": kind, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())
