"""What the Hub's client, the network and the cache may raise, as one sentence; by a real Hub: tests/reliability."""

from types import SimpleNamespace

import httpx2
import huggingface_hub
import pytest
from huggingface_hub import errors, get_session

from headtypes.core.errors import InputError
from headtypes.models.hub.refusals import errors_in_words
from headtypes.models.hub.snapshots import fetch_snapshot


def told(error: Exception, kind="model", cause: Exception | None = None) -> str:
    with (
        pytest.raises(InputError) as caught,
        errors_in_words("models.x.source", "some/model", "v9", kind, "a local folder"),
    ):
        raise error from cause
    assert str(caught.value).splitlines() == [str(caught.value)]
    return str(caught.value)


@pytest.fixture(autouse=True)
def connected(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)


@pytest.mark.parametrize(
    ("error", "cause", "fragments"),
    [
        (errors.HFValidationError("Repo id must be\n..."), None, ["source.hub: there is no model some/model"]),
        (httpx2.ProxyError("407"), None, ["cannot be reached for some/model (v9)", "HTTPS_PROXY", "run again"]),
        (httpx2.ReadTimeout("slow"), None, ["did not answer in time", "run again"]),
        (ConnectionError("no"), httpx2.ConnectError("refused"), ["cannot be reached for some/model (v9)"]),
        (errors.LocalEntryNotFoundError("Not in\nthe cache"), None, ["is not in the local cache", "a local folder"]),
        (OSError("Not enough disk space. Needed: 3"), None, ["there is not enough room", "set HF_HOME"]),
        (OSError(28, "No space left on device"), None, ["No space left on device", "set HF_HOME"]),
        (RuntimeError("worse"), PermissionError(13, "Permission denied"), ["Permission denied", "set HF_HOME"]),
        (KeyError("what"), None, ["cannot be had from", "'what'"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_is_raised_is_told_in_one_sentence_with_what_to_do(error, cause, fragments):
    message = told(error, cause=cause)
    for fragment in ["models.x.source.hub: ", "some/model", *fragments]:
        assert fragment in message


def test_a_file_that_a_mirror_lacks_is_named():
    response = SimpleNamespace(headers={}, status_code=404, request=None)
    message = told(errors.RemoteEntryNotFoundError("404 for config.json", response=response))
    assert "lacks a file that it lists (404 for config.json)" in message


def test_a_sentence_of_ours_stays_as_it_is():
    assert told(InputError("so it is.")) == "so it is."


def test_no_request_waits_without_an_end():
    """Some calls of the library have no limit."""
    with errors_in_words("models.x.source", "some/model", None, "model", "a local folder"):
        session = get_session()
    request = session.build_request("GET", "http://127.0.0.1:1/", timeout=None)
    for change in session.event_hooks["request"]:
        change(request)
    assert set(request.extensions["timeout"].values()) == {huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT}


def test_without_the_network_and_without_a_cache_nothing_is_tried_for_long(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=r"some/model is not in the local cache.*HF_HUB_OFFLINE forbids"):
        fetch_snapshot("models.x.source", "some/model", None, ["config.json"])
    with pytest.raises(InputError, match="there is no model not a name/at all"):
        fetch_snapshot("models.x.source", "not a name/at all", None, ["config.json"])
