"""A server on the loopback address that answers `huggingface_hub` and `datasets` as the Hub does, with its faults.

They use it if `HF_ENDPOINT` is its address when they are imported.
"""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from headtypes.core.files import sha256_file

# Files that the Hub keeps apart, named by their SHA-256.
_LARGE = (".safetensors", ".parquet", ".bin", ".h5")


@dataclass
class Repository:
    folder: Path
    commit: str

    @cached_property
    def files(self) -> dict[str, Path]:
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path for path in files}

    def tree(self, below: str, recursive: bool) -> list[dict]:
        entries, root = {}, PurePosixPath(below)
        for name, path in self.files.items():
            if not (file := PurePosixPath(name)).is_relative_to(root):
                continue
            folders = [str(root / folder) for folder in reversed(file.relative_to(root).parents[:-1])]
            for folder in folders if recursive else folders[:1]:
                entries[folder] = {"type": "directory", "oid": _sha1(folder), "size": 0, "path": folder}
            if recursive or not folders:
                size = path.stat().st_size
                large = {"lfs": {"oid": _sha256(path), "size": size, "pointerSize": 134}}
                entries[name] = {"type": "file", "oid": _sha1(name), "size": size, "path": name}
                entries[name] |= large if name.endswith(_LARGE) else {}
        return list(entries.values())


class Hub:
    def __init__(self, folder: Path, commits: Mapping[str, str] = {}):
        """folder: has `models/ORG/NAME` and `datasets/ORG/NAME`; commits: of these paths, else made up of the path."""
        names = {path.relative_to(folder).as_posix(): path for path in sorted(folder.glob("*/*/*"))}
        self.repositories = {name: Repository(path, commits.get(name, _sha1(name))) for name, path in names.items()}
        self.fault: tuple[str, str] | None = None

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HF_ENDPOINT": f"http://127.0.0.1:{self._server.server_address[1]}",
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "NO_PROXY": "*",
        }

    def __enter__(self) -> "Hub":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads, self._server.block_on_close, self._server.hub = True, False, self
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def failing(self, kind: str, where: str) -> Iterator[None]:
        """Let requests (`METHOD /path`) that a pattern finds be `cut off`, or have `other bytes`: one other bit."""
        self.fault = kind, where
        try:
            yield
        finally:
            self.fault = None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        parts, sent = urlsplit(self.path), self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, repositories = unquote(parts.path), self.server.hub.repositories
        if asked := re.fullmatch(r"/api/(\w+/[^/]+/[^/]+?)(?:/(revision|tree|paths-info)/(.+))?", path):
            key, what, rest = asked.groups()
            revision, _, below = (rest or "main").partition("/")
            if repository := self._at(repositories.get(key), revision):
                if what == "tree":
                    self._json(repository.tree(below, "recursive=true" in parts.query.lower()))
                elif what == "paths-info":
                    wanted = {name.strip("/") for name in parse_qs(sent.decode()).get("paths", [])}
                    self._json([entry for entry in repository.tree("", True) if entry["path"] in wanted])
                else:
                    files = [{"rfilename": file} for file in repository.files]
                    self._json({"id": key.partition("/")[2], "sha": repository.commit, "siblings": files})
        elif asked := re.fullmatch(r"/(datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            kind, name, revision, file = asked.groups()
            if repository := self._at(repositories.get(f"{kind or 'models/'}{name}"), revision):
                self._file(repository, file, self._fault(path))
        else:
            self._refuse("RepoNotFound")

    do_HEAD = do_POST = do_GET  # noqa: N815

    def _fault(self, path: str) -> str | None:
        kind, where = self.server.hub.fault or (None, "$^")
        return kind if re.search(where, f"{self.command} {path}") else None

    def _at(self, repository: Repository | None, revision: str) -> Repository | None:
        """The repository, if it has this revision; else the answer says what is not there."""
        if repository is None:
            self._refuse("RepoNotFound")
        elif revision in ("main", repository.commit):
            return repository
        else:
            self._refuse("RevisionNotFound")
        return None

    def _file(self, repository: Repository, file: str, fault: str | None) -> None:
        commit = {"X-Repo-Commit": repository.commit}
        if file not in repository.files:
            self._refuse("EntryNotFound", commit)
            return
        path, first, status, part = repository.files[file], 0, HTTPStatus.OK, {}
        content = path.read_bytes()
        if asked := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or ""):
            first, status = int(asked[1]), HTTPStatus.PARTIAL_CONTENT
            part = {"Content-Range": f"bytes {first}-{len(content) - 1}/{len(content)}"}
        headers = {**commit, **part, "ETag": f'"{_sha256(path)}"', "Accept-Ranges": "bytes"}
        self._head(status, len(content) - first, headers)
        if self.command != "HEAD":
            if fault == "other bytes":
                content = content[:-1] + bytes([content[-1] ^ 1])
            self.wfile.write(content[first : (first + len(content)) // 2 if fault == "cut off" else None])
            self.close_connection = fault == "cut off"

    def _refuse(self, why: str, headers: Mapping[str, str] = {}) -> None:
        self._head(HTTPStatus.NOT_FOUND, 0, {**headers, "X-Error-Code": why})

    def _json(self, data: Any) -> None:
        body = json.dumps(data).encode()
        self._head(HTTPStatus.OK, len(body), {"Content-Type": "application/json"})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, length: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()


_sha256 = cache(sha256_file)


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()
