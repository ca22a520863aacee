"""Foreign files with random faults, and what reads each: the promise is a result, or one sentence that names the file.

`test_mutated_files.py` tries a few of them, `benchmarks/mutated_files.py` as many as there is time for.
"""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random

import yaml

from headtypes.analyses.probes.vectors import read_vectors
from headtypes.analyses.types.partition_rows import read_partition_rows
from headtypes.core.errors import InputError
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.registry import KINDS
from headtypes.models.formats.gguf_files import read_header
from headtypes.models.outline import check_outline, outline_of
from headtypes.planning.config.files import laid_over
from headtypes.planning.config.given_files import types_in
from headtypes.planning.config.labels import labels_in
from headtypes.planning.config.schema import read_config

PARAGRAPH = {"context": "A cat sat. It ran.", "qas": [{"id": "q", "question": "Who?", "answers": []}]}
PARAGRAPH["qas"][0]["answers"] = [{"text": "cat", "answer_start": 2}]
SQUAD = {"version": "1.1", "data": [{"title": "Cats", "paragraphs": [PARAGRAPH, {"context": "Two.", "qas": []}]}]}
PAIRS = [{"id": "1", "a": "one", "b": "two", "l": 1}, {"id": "2", "a": "on\u00eb", "b": "t o", "l": 0}]
CHOICES = [
    {"id": "1", "q": "who?", "c": ["cat", "dog"], "a": 0},
    {"id": 2, "q": "it", "c": {"text": ["a", "b"], "label": ["A", "B"]}, "a": "B"},
]
TEXTS = [{"id": "a", "paragraphs": ["One cat.", "Two.", "Three."]}, {"id": 2, "paragraphs": ["One.", "Two."]}]
CONLLU = """# newdoc id = d
# global.Entity = eid-etype
# sent_id = s
1-2\tacat\t_\t_\t_\t_\t_\t_\t_\t_
1\ta\ta\tDET\tDT\tNumber=Sing\t2\tdet\t_\tEntity=(e1-x
2\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\tEntity=e1)|SpaceAfter=No
2.1\tit\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)

# sent_id = t
1\tIt\tit\tPRON\tPRP\t_\t0\troot\t_\tEntity=(e1[1/2])(e2)

"""
CONLL = """#begin document (a/b); part 000
a/b 0 0 the DT (NP* - - - s * (1
a/b 0 1 cat NN *) - - - s * 1)|(2)

a/b 0 0 it PRP (NP*) - - - - * (1)|(2)

#end document
"""
CONFIG = {"model_type": "bert", "num_hidden_layers": 2, "num_attention_heads": 4, "num_labels": 2,
          "id2label": {"0": "no", "1": "yes"}, "is_decoder": False, "tie_word_embeddings": True}  # fmt: skip
TENSORS = {"encoder.layer.0.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "__metadata__": {}}
YAML = """seed: 1
tasks: &t
  a: {kind: text, source: {file: x.txt}, samples: 24}
models:
  m: {source: {hub: x/y}, tasks: [a], parent: null}
clustering: {methods: [kmeans], k: [2, 4], scale: false}
conditions: {baseline: {}, less: {dense: zero}}
probes: {learning_rate: 1.0e-3}
"""
COLUMNS = {
    "sentence_pair": {"first": "a", "second": "b", "label": "l", "id": "id"},
    "multiple_choice": {"question": "q", "choices": "c", "answer": "a", "id": "id"},
}
# What is put into a file, besides pieces of itself.
PIECES = [
    *(bytes([byte]) for byte in b" \n\r\t\f,\"'\\|:-_()[]{}#*\0\xff\x85"),
    *("\ufeff", "\u2028", "\u0661", "\u00b2", "\n\n", "&t ", "*t", "!!int ", "<<: ", "? ", "NaN", "null", "true"),
    *("0", "1", "-1", "007", "010", "1:30", "1e999", "9" * 30, "9" * 5000, "[" * 3000, "2.1", "1-2", "(1", "1)"),
    *(b"", b"\xed\xa0\x80", b"\x01\0\0\0", b"\xff" * 8),
]
VALUES = [
    *(None, True, False, 0, 1, -1, 2, 10**30, 10**12, 0.5, float("nan"), float("inf")),
    *("", " ", "a", "\ud800", "a\0b", "1", [], [[]], {}, {"a": 1}, [None], ["a"], {"0": []}),
]


def lines(rows: list) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table(separator: str) -> bytes:
    return "\n".join(
        [separator.join(PAIRS[0]), *(separator.join(map(str, row.values())) for row in PAIRS), ""]
    ).encode()


def gguf() -> bytes:
    def text(words: str) -> bytes:
        return struct.pack("<Q", len(words)) + words.encode()

    keys = [
        ("general.architecture", struct.pack("<I", 8) + text("llama")),
        ("llama.block_count", struct.pack("<II", 4, 3)),
        ("tokens", struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")),
        ("scores", struct.pack("<IIQ2f", 9, 6, 2, 0.5, 1.5)),
    ]
    tensor = text("blk.2.attn_q.weight") + struct.pack("<I2QIQ", 2, 8, 8, 2, 0)
    return b"GGUF" + struct.pack("<IQQ", 3, 1, len(keys)) + b"".join(text(key) + value for key, value in keys) + tensor


def safetensors() -> bytes:
    head = json.dumps(TENSORS).encode()
    return struct.pack("<Q", len(head)) + head + bytes(8)


def of_task(kind: str) -> Callable[[Path], object]:
    def read(file: Path) -> None:
        rows, _ = fetch_task("t", kind, {"file": str(file)}, COLUMNS.get(kind))
        if "samples" in KINDS[kind].keys:
            KINDS[kind].draw_samples(rows, range)

    return read


def of_model(file: Path) -> None:
    folder = file.parent
    for name, content in {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": safetensors()}.items():
        if name != file.name:
            (folder / name).write_bytes(content)
    check_outline("models.m", outline_of("models.m", folder))


def of_gguf(file: Path) -> None:
    read_header(file)
    check_outline("models.m", outline_of("models.m", file.parent, gguf=file.name))


def of_config(file: Path) -> None:
    laid_over({}, [file])
    try:
        given = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.FullLoader)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError, KeyError):
        return  # Snakemake says so before we are asked.
    if isinstance(given, dict):
        read_config(laid_over(given, [file]).values)


# By the name of the file: what a good one holds, and what reads it.
READERS: dict[str, tuple[bytes, Callable[[Path], object]]] = {
    "squad.json": (json.dumps(SQUAD).encode(), of_task("question_answering")),
    "text.json": (json.dumps(SQUAD).encode(), of_task("text")),
    "text.jsonl": (lines(TEXTS), of_task("text")),
    "text.txt": (b"One cat.\n\nTwo dogs.\n\fThree.\n\nFour.\n", of_task("text")),
    "pairs.tsv": (table("\t"), of_task("sentence_pair")),
    "pairs.csv": (table(","), of_task("sentence_pair")),
    "pairs.jsonl": (lines(PAIRS), of_task("sentence_pair")),
    "labels.csv": (table(","), lambda file: labels_in(str(file), "l")),
    "choices.jsonl": (lines(CHOICES), of_task("multiple_choice")),
    "treebank.conllu": (CONLLU.encode(), of_task("treebank")),
    "coreference.conllu": (CONLLU.encode(), of_task("coreference")),
    "coreference.conll": (CONLL.encode(), of_task("coreference")),
    "heads.csv": (b"layer,head,type\n0,0,a\n0,1,b\n", lambda file: read_partition_rows(file, (1, 2))),
    "types.csv": (b"layer,head,type\n0,0,a\n0,1,b\n", lambda file: types_in("partitions.p.file", str(file))),
    "vectors.txt": (b"the 1 2\n. . 3 4\ncat -1 0.5\n", lambda file: read_vectors(str(file), {"the", "cat", "a"})),
    "config.yaml": (YAML.encode(), of_config),
    "config.json": (json.dumps(CONFIG).encode(), of_model),
    "model.safetensors": (safetensors(), of_model),
    "model.gguf": (gguf(), of_gguf),
}


def mutated(content: bytes, random: Random) -> bytes:
    """A file's bytes with one to four faults: of its JSON values where it is JSON or lines of it, else of its bytes."""
    for _ in range(random.randint(1, 4)):
        content = (random.random() < 0.5 and _with_other_value(content, random)) or _with_other_bytes(content, random)
    return content


def _with_other_bytes(content: bytes, random: Random) -> bytes:
    start = random.randrange(len(content) + 1)
    end = start + random.choice([0, 0, 1, 2, 8, 40])
    copied = random.randrange(len(content) + 1)
    piece = random.choice([*PIECES, content[copied : copied + random.choice([1, 4, 30])]])
    piece = piece.encode() if isinstance(piece, str) else piece
    return content[:start] + piece + content[end:]


def _with_other_value(content: bytes, random: Random) -> bytes | None:
    """The content with one of its JSON values in another's place; None where it is not JSON."""
    try:
        rows = [json.loads(line) for line in content.splitlines()]
    except (ValueError, RecursionError):
        return None
    places = [place for row in rows for place in _places(row)]
    if not places:
        return None
    holder, key = random.choice(places)
    other = random.choice(places)
    holder[key] = random.choice([*VALUES, json.loads(json.dumps(other[0][other[1]]))])
    return lines(rows)


def _places(value: object) -> list[tuple]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(value, key), *_places(value[key])]]


def fault_of(file: Path, read: Callable[[Path], object]) -> str | None:
    """What is wrong with how a file is read; None where that gives a result, or one sentence that names the file."""
    try:
        read(file)
    except InputError as error:
        message = str(error)
        if message.splitlines() != [message] or len(message) > 2001:
            return f"a message that is not one line: {message[:200]!r}"
        named = message.startswith("config: ") or file.name in message or str(file.parent) in message
        return None if named else f"the file is not named: {message}"
    except Exception as error:  # Whatever the bytes lead to.
        return f"{type(error).__name__}: {error}"[:300]
    return None
