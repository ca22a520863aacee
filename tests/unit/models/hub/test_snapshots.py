"""Files of the cache are compared with the names that the Hub gave their content."""

import hashlib
from pathlib import Path

import pytest

from headtypes.core.errors import InputError
from headtypes.models.hub.snapshots import check_contents, fetch_snapshot

CONTENT = b"weights"
NAMES = {
    "SHA-256": hashlib.sha256(CONTENT).hexdigest(),
    "git": hashlib.sha1(b"blob 7\0" + CONTENT).hexdigest(),
    "SHA-1 of a mirror": hashlib.sha1(CONTENT).hexdigest(),
}


def cached(folder: Path, name: str, content: bytes, shared: bool = False) -> Path:
    """A file of a snapshot, as the cache keeps it: a link to a file named by its content; returns that file."""
    blob, file = folder / "blobs" / name, folder / "snapshots" / "abc" / "file"
    for path in (blob, file):
        path.parent.mkdir(parents=True, exist_ok=True)
    if shared:
        # Of several repositories, in one place.
        target = folder / "shared"
        target.write_bytes(content)
        blob.symlink_to(target)
    else:
        blob.write_bytes(content)
    file.symlink_to(f"../../blobs/{name}")
    return blob


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
@pytest.mark.parametrize("shared", [False, True])
def test_a_file_that_is_another_is_removed_and_told(tmp_path, name, shared):
    blob = cached(tmp_path, name, CONTENT, shared)
    check_contents("some/model", tmp_path / "snapshots" / "abc")
    blob.write_bytes(CONTENT[:-1] + b"S")
    with pytest.raises(InputError, match=r"^some/model: file came damaged.*removed from the cache; run again"):
        check_contents("some/model", tmp_path / "snapshots" / "abc")
    assert [path for path in tmp_path.rglob("*") if path.is_symlink() or path.is_file()] == []


@pytest.mark.parametrize("direct", [False, True])
def test_what_a_link_leads_to_outside_of_the_cache_is_not_removed(tmp_path, direct):
    cache, mine = tmp_path / "hub" / "models--some--model", tmp_path / "mine" / NAMES["SHA-256"]
    mine.parent.mkdir()
    mine.write_text("my own")
    blob = cached(cache, NAMES["SHA-256"], CONTENT)
    link = cache / "snapshots" / "abc" / "file" if direct else blob
    link.unlink()
    link.symlink_to(mine)
    with pytest.raises(InputError, match="file came damaged"):
        check_contents("some/model", cache / "snapshots" / "abc")
    assert mine.read_text() == "my own"
    assert not (cache / "snapshots" / "abc" / "file").is_symlink()


def test_names_that_say_nothing_of_the_content_are_not_compared(tmp_path):
    cached(tmp_path, "W-some-tag", CONTENT)
    (tmp_path / "snapshots" / "abc" / "copied").write_bytes(CONTENT)
    check_contents("some/model", tmp_path / "snapshots" / "abc")


@pytest.mark.parametrize("commit", ["", "../../../other", "{folder}/other"])
def test_a_cache_whose_refs_lead_elsewhere_is_refused(tmp_path, monkeypatch, commit):
    """Another folder was taken for the model, and its name for the commit, as revision in the records."""
    cache = tmp_path / "cache" / "models--some--model"
    for folder in (tmp_path / "other", cache / "refs", cache / "snapshots"):
        folder.mkdir(parents=True)
    (tmp_path / "other" / "config.json").write_text("{}")
    (cache / "refs" / "main").write_text(commit.format(folder=tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"^models\.m\.source\.hub: some/model: the local cache is damaged"):
        fetch_snapshot("models.m.source", "some/model", None, ["*.json"])
