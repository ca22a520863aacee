"""A deposit that is read back, from its folder or from an archive of it."""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import unquote

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, canonical_json
from headtypes.deposit.writing import SUMS
from headtypes.planning.provenance import RESULTS, folder_of_records, is_record

METADATA = "ro-crate-metadata.json"
_RECORDS = f"{folder_of_records(RESULTS).as_posix()}/"
_CODE = f"{_RECORDS}code/"
_AGAIN = "copy the deposit again."


class Deposit:
    """The files of a deposit, each of which is what `SHA256SUMS` and the RO-Crate's metadata say.

    sums:    the SHA-256 of each file, by its path in the deposit.
    records: the record of provenance of each result by its path, also of those that are left out.
    """

    sums: Mapping[str, str]
    records: Mapping[str, dict]

    def __init__(self, path: StrPath):
        """Check every file. Raises `InputError` where this is no deposit, or a file is missing or has changed."""
        self.path = Path(path)
        if self.path.is_dir():
            self._archive, files = None, [it for it in self.path.rglob("*") if it.is_file()]
            names = [it.relative_to(path).as_posix() for it in files]
        elif zipfile.is_zipfile(self.path):
            self._archive = zipfile.ZipFile(self.path)
            names = [name for name in self._archive.namelist() if not name.endswith("/")]
        else:
            raise InputError(f"{path} is neither a folder nor a ZIP archive; name what commands/deposit.py wrote.")
        tops = sorted((name for name in names if PurePosixPath(name).name == SUMS), key=len)
        if not tops or (self._archive is None and tops[0] != SUMS):
            raise InputError(f"{path} is no deposit: it has no {SUMS}; name what commands/deposit.py wrote.")
        self._top = tops[0].removesuffix(SUMS)
        self.sums = self._sums({name.removeprefix(self._top) for name in names if name.startswith(self._top)})
        self._check_metadata()
        names = [name for name in self.sums if name.startswith(_RECORDS) and not name.startswith(_CODE)]
        self.records = {_result_of(name): self.json(name) for name in names}
        for result, record in self.records.items():
            if not is_record(record) or self.digest(result) not in (None, record["sha256"]):
                raise InputError(f"{path}: the record of what made {result} is not that of this file; {_AGAIN}")

    def open(self, name: str) -> BinaryIO:
        """One of its files, to be read."""
        return open(self.path / name, "rb") if self._archive is None else self._archive.open(f"{self._top}{name}")

    def json(self, name: str) -> Any:
        """What a file in JSON holds."""
        with self.open(name) as file:
            try:
                return json.load(file)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{self.path}: {name} is no JSON that can be read; {_AGAIN}") from error

    def files_of(self, result: str) -> dict[str, str]:
        """The files of a result by their paths in it: of a folder all, of a file itself, with an empty path."""
        of_folder = {name.removeprefix(f"{result}/"): name for name in self.sums if name.startswith(f"{result}/")}
        return {"": result} if result in self.sums else of_folder

    def digest(self, result: str) -> str | None:
        """The SHA-256 of a result, as records have it; None where the deposit has it not."""
        files = {inside: self.sums[name] for inside, name in self.files_of(result).items()}
        if len(files) == 1 and "" in files:
            return files[""]
        return hashlib.sha256(canonical_json(files).encode()).hexdigest() if files else None

    def code(self, digest: str) -> dict | None:
        """What the digest of a job's code is made of, where the deposit has it."""
        name = f"{_CODE}{digest}.json"
        return self.json(name) if name in self.sums else None

    def _sums(self, there: set[str]) -> dict[str, str]:
        with self.open(SUMS) as file:
            lines = file.read().decode("utf-8", "replace").splitlines()
        sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        for name in sorted(there - sums.keys() - {SUMS}):
            raise InputError(f"{self.path}: {name} is not in {SUMS}, so nobody says what it holds; delete it.")
        for name, digest in sums.items():
            if name not in there:
                raise InputError(f"{self.path}: {name} is missing; {_AGAIN}")
            with self.open(name) as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    raise InputError(f"{self.path}: {name} has changed since the deposit was made; {_AGAIN}")
        return sums

    def _check_metadata(self) -> None:
        if METADATA not in self.sums:
            raise InputError(f"{self.path} is no RO-Crate: it has no {METADATA}; {_AGAIN}")
        described = self.json(METADATA)
        graph = described.get("@graph", []) if isinstance(described, dict) else []
        digests = {unquote(it["@id"]): it["sha256"] for it in graph if "sha256" in it}
        for name in self.sums.keys() - {METADATA}:
            if digests.get(name) != self.sums[name]:
                raise InputError(f"{self.path}: {METADATA} says of {name} another SHA-256 than {SUMS}; {_AGAIN}")


def _result_of(record: str) -> str:
    """The path of the result that a record is of."""
    return f"{RESULTS.as_posix()}/{record.removeprefix(_RECORDS).removesuffix('.json')}"
