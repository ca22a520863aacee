"""A server on the loopback address that answers as the Hugging Face Hub does, with the faults that it may have.

`huggingface_hub` and `datasets` use it if `HF_ENDPOINT` is its address when they are imported. It knows what these
libraries ask when they download: what a repository and its revisions are, the tree of files, `resolve` with its
redirects (small files to a cache on the same host, large ones to another host), ETags, ranges.
"""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

# Files that the Hub keeps apart and sends from another host, named by their SHA-256.
_LARGE = (".safetensors", ".parquet", ".bin", ".h5")
_CHUNK = 1 << 20
# What the answers of a Hub are that has no such thing: status, and the headers by which it says why.
_REFUSALS = {
    "no repository": (404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}),
    "nobody": (401, {"X-Error-Message": "Invalid username or password."}),
    "no revision": (404, {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "Invalid rev id"}),
    "no file": (404, {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}),
}


@dataclass(frozen=True)
class Fault:
    """What goes wrong with the requests that a pattern finds; a request is `METHOD /path`.

    kind: `cut off`, the connection ends in the middle of a file; or `other bytes`, one bit of it is another.
    """

    kind: str
    where: str

    def finds(self, request: str) -> bool:
        """Whether a request meets with the fault."""
        return re.search(self.where, request) is not None


@dataclass
class Repository:
    """A folder of files under a name, at one commit."""

    folder: Path
    commit: str
    tags: tuple[str, ...] = ()
    _digests: dict[str, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def files(self) -> dict[str, Path]:
        """The files by their path in the repository."""
        found = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path for path in found}

    def has(self, revision: str) -> bool:
        """Whether a revision is this commit, or a name of it."""
        return revision in ("main", self.commit, *self.tags)

    def digests(self, name: str) -> tuple[str, str]:
        """The SHA-256 of a file, and the SHA-1 by which git names it."""
        if name not in self._digests:
            path = self.files[name]
            sha256, git = hashlib.sha256(), hashlib.sha1(f"blob {path.stat().st_size}\0".encode())
            with open(path, "rb") as data:
                while chunk := data.read(_CHUNK):
                    sha256.update(chunk)
                    git.update(chunk)
            self._digests[name] = sha256.hexdigest(), git.hexdigest()
        return self._digests[name]

    def etag(self, name: str) -> str:
        """The name of a file's content: of a large one its SHA-256, of others as git has it."""
        return self.digests(name)[0 if name.endswith(_LARGE) else 1]


class Hub:
    """The server; ends by itself when the block does, or after its lifetime."""

    def __init__(self, folder: Path, commits: Mapping[str, str] = {}, lifetime: float = 900.0):
        """folder: has `models/ORG/NAME` and `datasets/ORG/NAME`; commits: of these paths, else made up of the path."""
        self.repositories = {
            path.relative_to(folder).as_posix(): Repository(
                path,
                commits.get(
                    path.relative_to(folder).as_posix(),
                    hashlib.sha1(path.relative_to(folder).as_posix().encode()).hexdigest(),
                ),
            )
            for path in sorted(folder.glob("*/*/*"))
        }
        self.fault: Fault | None = None
        self.closing = threading.Event()
        self._lifetime, self._port = lifetime, 0
        self.start()

    @property
    def address(self) -> str:
        """What `HF_ENDPOINT` must be."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs in its environment to use this Hub and no other address."""
        return {
            "HF_ENDPOINT": self.address,
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "NO_PROXY": "*",
        }

    def start(self) -> None:
        """Listen, at the port of the last time."""
        self.closing.clear()
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _Handler)
        self._server.daemon_threads, self._server.block_on_close, self._server.hub = True, False, self
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self._timer = threading.Timer(self._lifetime, self.stop)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Listen no longer: connections are refused."""
        self.closing.set()
        self._timer.cancel()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> "Hub":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @contextmanager
    def failing(self, fault: Fault) -> Iterator[None]:
        """With a fault, for a `with` block."""
        self.fault = fault
        try:
            yield
        finally:
            self.fault = None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Of a connection on which nothing is asked any more.
    timeout = 60

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        hub: Hub = self.server.hub
        parts = urlsplit(self.path)
        self._asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self._sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(parts.path)
        fault = hub.fault if hub.fault and hub.fault.finds(f"{self.command} {path}") else None
        self._damage = fault.kind if fault else None
        self._answer(hub, path)

    def _answer(self, hub: Hub, path: str) -> None:
        if found := re.fullmatch(r"/api/(models|datasets)/([^/]+/[^/]+?)(?:/(revision|tree|paths-info)/(.+))?", path):
            kind, name, what, rest = found.groups()
            revision, _, below = (rest or "main").partition("/")
            if repository := self._repository(hub, f"{kind}/{name}", revision):
                if what == "tree":
                    self._json(_tree(repository, below, self._asked.get("recursive", "").lower() == "true"))
                elif what == "paths-info":
                    wanted = {path.strip("/") for path in parse_qs(self._sent.decode()).get("paths", [])}
                    self._json([entry for entry in _tree(repository, "", True) if entry["path"] in wanted])
                else:
                    self._json(_information(name, repository))
        elif found := re.fullmatch(r"/(datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            of_data, name, revision, file = found.groups()
            key = f"{'datasets' if of_data else 'models'}/{name}"
            if repository := self._repository(hub, key, revision):
                self._resolve(repository, key, file)
        elif found := re.fullmatch(r"/api/resolve-cache/((?:models|datasets)/[^/]+/[^/]+)/([^/]+)/(.+)", path):
            key, revision, file = found.groups()
            if repository := self._repository(hub, key, revision):
                self._file(repository, file, {"X-Repo-Commit": repository.commit})
        elif found := re.fullmatch(r"/large/((?:models|datasets)/[^/]+/[^/]+)/(.+)", path):
            key, file = found.groups()
            self._file(hub.repositories[key], file, {})
        else:
            self._refuse("no repository")

    def _repository(self, hub: Hub, key: str, revision: str) -> Repository | None:
        repository = hub.repositories.get(key)
        if repository is None:
            # Of what may be private, the Hub does not say to everyone that it is not there.
            self._refuse("no repository" if self.headers.get("Authorization") else "nobody")
        elif not repository.has(revision):
            self._refuse("no revision")
            return None
        return repository

    def _resolve(self, repository: Repository, key: str, file: str) -> None:
        """Say where a file is: large ones on another host, others in a cache."""
        if file not in repository.files:
            self._refuse("no file", {"X-Repo-Commit": repository.commit})
            return
        etag, size = f'"{repository.etag(file)}"', str(repository.files[file].stat().st_size)
        common = {"X-Repo-Commit": repository.commit, "X-Linked-Size": size, "X-Linked-ETag": etag}
        if file.endswith(_LARGE):
            where = f"http://localhost:{self.server.server_address[1]}/large/{key}/{file}"
            self._send(HTTPStatus.FOUND, {**common, "Location": where})
        else:
            where = f"/api/resolve-cache/{key}/{repository.commit}/{file}"
            self._send(HTTPStatus.TEMPORARY_REDIRECT, {**common, "Location": where})

    def _file(self, repository: Repository, file: str, headers: dict[str, str]) -> None:
        path = repository.files[file]
        size, first, status = path.stat().st_size, 0, HTTPStatus.OK
        if part := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or ""):
            first, status = int(part[1]), HTTPStatus.PARTIAL_CONTENT
            headers = {**headers, "Content-Range": f"bytes {first}-{size - 1}/{size}"}
        told = size - first
        headers = {**headers, "ETag": f'"{repository.etag(file)}"', "Accept-Ranges": "bytes"}
        self._head(status, {**headers, "Content-Length": str(told)})
        if self.command == "HEAD":
            return
        left = told // 2 if self._damage == "cut off" else told
        with open(path, "rb") as data:
            data.seek(first)
            while left and not self.server.hub.closing.is_set():
                chunk = data.read(min(_CHUNK, left))
                left -= len(chunk)
                if self._damage == "other bytes" and not left:
                    chunk = chunk[:-1] + bytes([chunk[-1] ^ 1])
                self.wfile.write(chunk)
        if self._damage == "cut off":
            self._hang_up()

    def _refuse(self, why: str, headers: Mapping[str, str] = {}) -> None:
        status, reasons = _REFUSALS[why]
        message = reasons.get("X-Error-Message", HTTPStatus(status).phrase)
        body = json.dumps({"error": message}).encode()
        self._send(HTTPStatus(status), {**headers, **reasons, "Content-Type": "application/json"}, body)

    def _json(self, data: Any) -> None:
        body = json.dumps(data).encode()
        headers = {"Content-Type": "application/json"}
        self._send(HTTPStatus.OK, headers, body)

    def _send(self, status: HTTPStatus, headers: Mapping[str, str], body: bytes = b"") -> None:
        self._head(status, {**headers, "Content-Length": str(len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()


def _information(name: str, repository: Repository) -> dict:
    return {
        "id": name,
        "sha": repository.commit,
        "private": False,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "createdAt": "2022-03-02T23:29:22.000Z",
        "lastModified": "2024-01-04T16:34:45.000Z",
        "siblings": [{"rfilename": file} for file in repository.files],
    }


def _tree(repository: Repository, below: str, recursive: bool) -> list[dict]:
    """The entries of a folder of a repository, with those of its folders if so asked."""
    prefix = f"{below.strip('/')}/" if below.strip("/") else ""
    folders: dict[str, dict] = {}
    files = []
    for name, path in repository.files.items():
        if not name.startswith(prefix):
            continue
        *parents, _ = name.removeprefix(prefix).split("/")
        for depth in range(1, len(parents) + 1 if recursive else min(len(parents), 1) + 1):
            folder = prefix + "/".join(parents[:depth])
            git = hashlib.sha1(folder.encode()).hexdigest()
            folders[folder] = {"type": "directory", "oid": git, "size": 0, "path": folder}
        if recursive or not parents:
            sha256, git = repository.digests(name)
            size = path.stat().st_size
            large = {"lfs": {"oid": sha256, "size": size, "pointerSize": 134}} if name.endswith(_LARGE) else {}
            files.append({"type": "file", "oid": git, "size": size, "path": name, **large})
    return [*folders.values(), *files]
