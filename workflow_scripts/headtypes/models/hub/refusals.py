"""What the Hub refuses, what fails on the way to it and in the cache, each as a sentence that says what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getmro

from huggingface_hub import constants, set_client_factory

# Without a public name: the client that the library itself makes, which we only change.
from huggingface_hub.utils._http import default_client_factory

from headtypes.core.errors import InputError, one_line
from headtypes.core.files import refusal

_LOG_IN = "log in with `hf auth login`, or set HF_TOKEN, and run again"
_WAY = "check the network, and HF_ENDPOINT and HTTPS_PROXY if you use a mirror or a proxy, and run again"


@contextmanager
def errors_in_words(key: str, repository: str, revision: str | None, kind: str, instead: str) -> Iterator[None]:
    """Turn any error in speaking with the Hub into an `InputError` of one sentence.

    key: of the source in the configuration; kind: `model` or `data set`; instead: what of one's own could be given,
        such as `a local folder`.
    Within the block, no request waits for ever.
    """
    set_client_factory(_patient_client)
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # The Hub's client, the network and the cache raise many kinds.
        field = "revision" if "RevisionNotFoundError" in _names(error) else "hub"
        raise InputError(f"{key}.{field}: {_sentence(error, repository, revision, kind, instead)}") from error


def _patient_client():
    """The library's client of HTTP, which otherwise may wait for ever for an answer."""
    client = default_client_factory()

    def limit(request) -> None:
        waits = request.extensions.get("timeout", {})
        limited = {step: constants.HF_HUB_DOWNLOAD_TIMEOUT if wait is None else wait for step, wait in waits.items()}
        request.extensions["timeout"] = limited

    client.event_hooks["request"].append(limit)
    return client


def _sentence(error: BaseException, repository: str, revision: str | None, kind: str, instead: str) -> str:
    names, status = _names(error), _status(error)
    named = f"{repository} ({revision})" if revision else repository
    if why := _of_the_cache(error):
        variable = "HF_HOME" if kind == "model" else "HF_HOME, or HF_DATASETS_CACHE if it has been downloaded,"
        return (
            f"{named} cannot be stored in the cache, {constants.HF_HOME}: {why}; mend this, or set {variable} to "
            "another folder, and run again."
        )
    # Where `datasets` tells it, the Hub's own error is lost.
    if "GatedRepoError" in names or "is a gated dataset" in str(error):
        return f"{repository} asks for its terms to be accepted; do so on its page, then {_LOG_IN}."
    if "RevisionNotFoundError" in names:
        return f"{repository} has no revision {revision or 'main'} on the Hub; name another."
    if names & {"RepositoryNotFoundError", "HFValidationError"} or status == 401:
        return f"there is no {kind} {repository} on the Hub that you may see; correct its name, or {_LOG_IN}."
    if "DisabledRepoError" in names:
        return f"{repository} has been disabled on the Hub; name another, or give {instead}."
    if status == 403:
        return f"the Hub gives {named} to nobody with your rights ({one_line(_refused(error))}); {_LOG_IN}."
    if "RemoteEntryNotFoundError" in names:
        lacking = one_line(_refused(error))
        return f"{named} lacks a file that it lists ({lacking}); name another revision, or give {instead}."
    if status == 429:
        return (
            f"the Hub has had too many requests from here and does not give {named} now (429); wait some minutes and "
            "run again. Who is logged in (`hf auth login`) is allowed more."
        )
    if status is not None and status >= 500:
        return f"the Hub cannot give {named} now ({status}); run again later, or give {instead}."
    if constants.is_offline_mode() and names & {"ConnectionError", "FileNotFoundError"}:
        return (
            f"{named} is not in the local cache, {constants.HF_HOME}, and HF_HUB_OFFLINE forbids asking the Hub; unset "
            f"it, set HF_HOME to a cache that has it, or give {instead}."
        )
    if "TimeoutException" in names:
        return f"{constants.ENDPOINT} did not answer in time when asked for {named}; {_WAY}, or give {instead}."
    if names & {"ConnectError", "ProxyError"}:
        return f"{constants.ENDPOINT} cannot be reached for {named}; {_WAY}, or give {instead}."
    if names & {"NetworkError", "RemoteProtocolError", "JSONDecodeError"} or "Consistency check failed" in str(error):
        return f"the download of {named} broke off; what came is not kept; run again, or give {instead}."
    return (
        f"{named} is not in the local cache and cannot be had from {constants.ENDPOINT} ({one_line(error)}); {_WAY}, "
        f"or give {instead}."
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__


def _names(error: BaseException) -> set[str]:
    """The names of the classes of an error and of what it came from.

    Names, because the errors of the network are those of the library that `huggingface_hub` happens to use, the third
    one in some years.
    """
    return {kind.__name__ for each in _chain(error) for kind in getmro(type(each))}


def _refused(error: BaseException) -> BaseException:
    """The answer of the Hub among what an error came from; else the error."""
    return next((each for each in _chain(error) if getattr(each, "response", None) is not None), error)


def _status(error: BaseException) -> int | None:
    """The status of the Hub's answer; None where none came, or where it has been answered and something else failed."""
    return getattr(getattr(_refused(error), "response", None), "status_code", None)


def _of_the_cache(error: BaseException) -> str | None:
    """Why nothing can be written to the cache; None where that is not what failed."""
    if any("Not enough disk space" in str(each) for each in _chain(error)):
        return "there is not enough room for it"
    return refusal(error)
