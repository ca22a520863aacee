"""The page of a model that stays loaded, served to a browser on the same machine and to nobody else.

The server listens on the loopback address, and its own holds a random word. A request that a page from elsewhere makes
a browser send names another origin or, where a host name of its own leads here (DNS rebinding), another host.
"""

import json
import secrets
import sys
import threading
import traceback
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from headtypes.core.errors import InputError
from headtypes.pages.atlas.live import Live
from headtypes.pages.atlas.page import asset, page_of

LOOPBACK, JSON = "127.0.0.1", "application/json"
# Bytes of a request: more than the page sends.
_LARGEST = 100_000
_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}


class LiveServer(ThreadingHTTPServer):
    """Serves one model. Questions are answered one after the other."""

    daemon_threads = True

    def __init__(self, live: Live, texts: tuple[str | None, str | None], port: int = 0):
        """texts: that the page begins with; port: 0 for any that is free. Raises `InputError` as `Live.page`."""
        self.live, self.word, self.turn = live, secrets.token_urlsafe(24), threading.Lock()
        self.page = page_of(live.page(*texts), {"model": live.record.name}, live=asset("live.js"))
        super().__init__((LOOPBACK, port), _Handler)
        self.hosts = [f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")]

    def handle_error(self, request, client_address) -> None:
        """Say in a line that a browser has broken off; of anything else, all there is to say."""
        if isinstance(sys.exception(), ConnectionError):
            print("A browser broke off before it had its answer.", file=sys.stderr)
        else:
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.word}/"


class _Handler(BaseHTTPRequestHandler):
    server: LiveServer
    # Seconds for which a connection may be silent.
    timeout = 10

    def do_GET(self) -> None:
        self._answer("", "text/html; charset=utf-8", lambda: self.server.page)

    def do_POST(self) -> None:
        self._answer("read", JSON, self._read)

    def log_message(self, *_) -> None:
        """Say nothing: texts are nobody's business."""

    def _read(self) -> str:
        asked = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), _LARGEST)))
        with self.server.turn:
            return json.dumps(self.server.live.read(**asked), allow_nan=False)

    def _answer(self, path: str, kind: str, make: Callable[[], str]) -> None:
        status, why = HTTPStatus.OK, ""
        try:
            if self._is_own(path):
                text = make()
            else:
                status, why = HTTPStatus.FORBIDDEN, "Only the page whose address look.py printed is served."
        except InputError as error:
            status, why = HTTPStatus.BAD_REQUEST, str(error)
        except ConnectionError:
            raise
        except Exception:
            traceback.print_exc()
            status, why = HTTPStatus.INTERNAL_SERVER_ERROR, "The model failed on this; its terminal says how."
        kind, content = (JSON, json.dumps({"error": why}).encode()) if why else (kind, text.encode())
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _is_own(self, path: str) -> bool:
        hosts, origins = self.server.hosts, self.headers.get_all("Origin", [])
        own = self.headers.get("Host") in hosts and set(origins) <= {f"http://{host}" for host in hosts}
        return own and secrets.compare_digest(self.path.encode(), f"/{self.server.word}/{path}".encode())
