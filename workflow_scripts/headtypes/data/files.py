"""The files of a folder of data, and what its first bytes tell of one."""

from codecs import BOM_UTF8
from pathlib import Path

from headtypes.core.errors import InputError


def check_form(file: str, form: str, formats: str, where: str) -> None:
    """Refuse a file that is to hold JSON and does not begin with a brace.

    form, formats: of the kind (`kinds.protocol.Kind`); where: the file's key in the configuration, for messages.
    """
    if form == "json":
        with open(file, "rb") as data:
            begins = data.read(64).removeprefix(BOM_UTF8).lstrip()
        if begins[:1] != b"{":
            raise InputError(f"{where}: {file} is not {formats}, which begins with a brace; name another file.")


def files_of(folder: str, key: str) -> list[str]:
    """The files directly in a folder, in the order of their names, without hidden ones.

    key: of the folder in the configuration, for messages.
    Raises `InputError` if the folder does not exist, holds no file, holds files of several suffixes, or a file with
    braces in its name.
    """
    if not Path(folder).is_dir():
        looked = "" if Path(folder).is_absolute() else f" in {Path.cwd()}, from which relative paths count"
        raise InputError(f"{key}: there is no folder {folder}{looked}.")
    for file in Path(folder).iterdir():
        if not file.exists():
            raise InputError(f"{key}: {file} is a link that leads nowhere; mend it or delete it.")
    files = sorted(file for file in Path(folder).iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise InputError(f"{key}: the folder {folder} holds no files.")
    if braces := next((file for file in files if {"{", "}"} & set(file.name)), None):
        raise InputError(f"{key}: Snakemake takes the braces in {braces} for wildcards; rename the file.")
    suffixes = sorted({file.suffix.lower() or "none" for file in files})
    if len(suffixes) > 1:
        raise InputError(f"{key}: the files in {folder} must have one suffix; found {', '.join(suffixes)}.")
    return list(map(str, files))
