"""The page of a model that stays loaded, served to a browser on the same machine and to nobody else.

The server listens on the loopback address. Whoever does not know the random word in its address gets nothing, nor does
a page from elsewhere: what a browser sends for one names another origin, or, where a name of its own leads here (DNS
rebinding), another host.
"""

import json
import secrets
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic import TypeAdapter, ValidationError

from headtypes.core.errors import InputError
from headtypes.data.records import Strict
from headtypes.pages.atlas.live import OFFERED, Live
from headtypes.pages.atlas.page import asset, page_of

LOOPBACK = "127.0.0.1"
# Bytes of a request: some ten times the text that a model reads of it.
LARGEST = 20_000
# Seconds for which a request may be silent, and for which one waits for those before it.
SILENT, WAITING = 10, 60
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass
class Asked(Strict):
    """What a page asks: a text, or two, and the heads that an operation is applied to."""

    first: str
    second: str | None = None
    operation: str = OFFERED[0]
    heads: list[str] = field(default_factory=list)


class _RefusedError(Exception):
    def __init__(self, status: HTTPStatus, why: str):
        super().__init__(why)
        self.status = status


class LiveServer(ThreadingHTTPServer):
    """Serves one model. Requests are answered one after the other."""

    daemon_threads = True

    def __init__(self, live: Live, texts: tuple[str, str | None], port: int = 0):
        """texts: that the page begins with; port: 0 for any that is free.

        Raises `InputError` where the port is taken, or the model cannot read the texts.
        """
        page = page_of(live.page(*texts), {"model": live.record.name}, live=asset("live.js"))
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise InputError(f"--port: {port} cannot be used ({error.strerror}); name another, or none.") from error
        self.live, self.page, self.word = live, page, secrets.token_urlsafe(24)
        self.turn = threading.Lock()
        self.hosts = [f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")]

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.word}/"

    def answer(self, body: bytes) -> dict:
        """What the model answers; raises `_RefusedError`, or `InputError` as `Live.read`."""
        try:
            asked = TypeAdapter(Asked).validate_json(body)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise _RefusedError(
                HTTPStatus.BAD_REQUEST, f"This is no question: {f'{where}: ' if where else ''}{first['msg']}."
            ) from error
        if not self.turn.acquire(timeout=WAITING):
            raise _RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "The model is busy; ask again.")
        try:
            return self.live.read(asked.first, asked.second, asked.operation, asked.heads)
        finally:
            self.turn.release()


class _Handler(BaseHTTPRequestHandler):
    server: LiveServer
    # Of the connection, so that one that sends nothing ends.
    timeout = SILENT
    server_version, sys_version = "headtypes", ""

    def do_GET(self) -> None:
        """Answer with the page."""
        self._answer("", lambda: (self.server.page.encode(), "text/html; charset=utf-8"))

    def do_POST(self) -> None:
        """Answer with what the model says."""
        self._answer("read", lambda: (_json(self.server.answer(self._body())), "application/json"))

    def log_message(self, *_) -> None:
        """Say nothing: texts are nobody's business."""

    def _answer(self, path: str, make) -> None:
        # One request each: what was refused is not read to its end.
        self.close_connection = True
        try:
            self._check(path)
            content, kind = make()
            status = HTTPStatus.OK
        except _RefusedError as error:
            status, content, kind = error.status, _json({"error": str(error)}), "application/json"
        except InputError as error:
            status, content, kind = HTTPStatus.BAD_REQUEST, _json({"error": str(error)}), "application/json"
        except TimeoutError:
            return
        except Exception:
            traceback.print_exc(file=sys.stderr)
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            content, kind = _json({"error": "The model failed on this; its terminal says how."}), "application/json"
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        if status != HTTPStatus.OK:
            self._drop_rest()

    def _drop_rest(self) -> None:
        """Read for a while what is still sent: where it were left unread, the answer could be lost with it."""
        end = time.monotonic() + SILENT
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(1)
            while time.monotonic() < end and self.rfile.read1(2**16):
                pass

    def _check(self, path: str) -> None:
        """Raise `_RefusedError` for whoever is not the page of this server."""
        given = {name: self.headers.get_all(name, []) for name in ("Host", "Origin")}
        if len(given["Host"]) != 1 or given["Host"][0] not in self.server.hosts:
            raise _RefusedError(HTTPStatus.FORBIDDEN, f"Only {LOOPBACK} and localhost are served, by no other name.")
        if not set(given["Origin"]) <= {f"http://{host}" for host in self.server.hosts}:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "Pages from elsewhere are not served.")
        if not secrets.compare_digest(self.path.encode(), f"/{self.server.word}/{path}".encode()):
            raise _RefusedError(HTTPStatus.NOT_FOUND, "There is nothing here; open the address that look.py printed.")

    def _body(self) -> bytes:
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A question is JSON.")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or not length.isascii():
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "A question says its length.")
        if len(length) > 9 or int(length) > LARGEST:
            raise _RefusedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The text is too long: {LARGEST:,} bytes are read at most; shorten it.",
            )
        return self.rfile.read(int(length))


def _json(answer: dict) -> bytes:
    return json.dumps(answer, allow_nan=False).encode()
