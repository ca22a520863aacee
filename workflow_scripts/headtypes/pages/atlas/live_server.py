"""The page of a model that stays loaded, served to a browser on the same machine and to nobody else.

The server listens on the loopback address, and answers below a path with a random word, which no other page knows, who
asks for it by a name of this machine and is no page from elsewhere.
"""

import json
import re
import secrets
import sys
import threading
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic import BaseModel, ConfigDict, ValidationError

from headtypes.core.errors import InputError
from headtypes.pages.atlas.live import Live
from headtypes.pages.atlas.page import page_of

LOOPBACK = "127.0.0.1"
# As a browser on this machine asks for it, also through a port that is forwarded from another one.
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]+)?")
# In bytes, of a question.
_LENGTH = re.compile("[0-9]{1,6}")


class Request(BaseModel):
    """A question of a page, as `Live.read` takes it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    first: str
    second: str | None = None
    off: list[str] = []


class LiveServer(ThreadingHTTPServer):
    """Serves one model. Questions are answered one after the other."""

    daemon_threads = True

    def __init__(self, live: Live, texts: tuple[str | None, str | None], port: int = 0):
        self.live, self.turn = live, threading.Lock()
        self.page = page_of(live.page(*texts), {"model": live.record.name})
        self.path = f"/{secrets.token_urlsafe(24)}/"
        super().__init__((LOOPBACK, port), _Handler)

    def handle_error(self, request, client_address) -> None:
        """Ignore the error of a browser that closed its connection, as when it asks for something else; print
        others.
        """
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
        try:
            length = self.headers["Content-Length"] or ""
            if not _LENGTH.fullmatch(length):
                raise InputError(f"Content-Length is {length[:20]!r}; send a question of 1 to 999999 bytes.")
            asked = Request.model_validate_json(self.rfile.read(int(length)))
            with self.server.turn:
                status, read = HTTPStatus.OK, self.server.live.read(**dict(asked))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            why = f"{'.'.join(map(str, problem['loc'])) or 'the question'}: {problem['msg']}; reload the page."
            status, read = HTTPStatus.BAD_REQUEST, {"error": why}
        except (InputError, TimeoutError) as error:
            status, read = HTTPStatus.BAD_REQUEST, {"error": str(error)}
        except Exception:
            traceback.print_exc()
            why = "The model failed on this; its terminal says how."
            status, read = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": why}
        self._send(status, "application/json", json.dumps(read, allow_nan=False))

    def log_message(self, *_) -> None:
        """Say nothing: texts are nobody's business."""

    def _is_own(self, path: str) -> bool:
        host, origin = (self.headers[name] or "" for name in ("Host", "Origin"))
        is_here = _HOST.fullmatch(host) and origin in ("", f"http://{host}")
        is_own = bool(is_here) and secrets.compare_digest(self.path.encode(), path.encode())
        if not is_own:
            self.send_error(HTTPStatus.FORBIDDEN, "Only the page whose address look.py printed is served.")
        return is_own

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(text.encode())
