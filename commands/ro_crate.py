"""The metadata of a deposit as a Workflow Run RO-Crate."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from rocrate.model.contextentity import ContextEntity
from rocrate.model.person import Person
from rocrate.rocrate import ROCrate

from headtypes.deposit.card import PRIVATE, Study, kinds_left_out
from headtypes.deposit.parts import Part
from headtypes.deposit.sources import Source

# The newest versions that validators know, all of the same RO-Crate.
_VERSION = "1.1"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
# Of files with another suffix: text.
_FORMATS = {
    ".css": "text/css",
    ".csv": "text/csv",
    ".h5": "application/x-hdf5",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".safetensors": "application/octet-stream",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
}


def write_crate(folder: Path, sums: Mapping[str, str], *, study: Study, parts: Sequence[Part]) -> Path:
    """Write the metadata of a folder and return the file; sums: the SHA-256 of every part, by its path."""
    crate = ROCrate(version=_VERSION)
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    crate.name, crate.description = study.title, _description(study)
    crate.root_dataset["datePublished"] = study.published.isoformat()
    crate.root_dataset["license"] = _license(crate, study.license)
    authors = [
        crate.add(Person(crate, it.orcid or f"#author-{number}", {"name": it.name}))
        for number, it in enumerate(study.authors, start=1)
    ]
    crate.root_dataset["author"] = _compact(authors)
    crate.root_dataset["conformsTo"] = [
        crate.add(ContextEntity(crate, url, {"@type": "CreativeWork", "name": name, "version": version}))
        for url, (name, version) in _PROFILES.items()
    ]
    files = {part.path: _add(crate, folder, part, sums[part.path]) for part in parts}
    for part in parts:
        if part.record is not None:
            files[part.path]["subjectOf"] = files[part.record]
    files["README.md"]["about"] = crate.root_dataset
    workflow = files["workflow/Snakefile"]
    _describe(crate, workflow, study)
    inputs = [_input(crate, source) for source in study.sources]
    action = crate.add_action(
        workflow,
        "#run",
        object=[*inputs, files["workflow/config.yaml"]],
        result=[files[part.path] for part in parts if part.record is not None],
        properties={
            "name": f"Run of headtypes: {study.title}",
            "description": "All jobs of the workflow, which may have been run in several starts of Snakemake.",
            "endTime": study.made.ended.isoformat(),
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    action["agent"] = _compact(authors)
    crate.root_dataset["mentions"] = action
    crate.metadata.write(folder)
    return folder / crate.metadata.id


def _description(study: Study) -> str:
    left_out = f" Left out: {kinds_left_out(study.left_out)}; left_out.csv lists them." if study.left_out else ""
    left_out = f" {PRIVATE}" if study.private else left_out
    return f"{study.summary.run} README.md says what was found and what must not be concluded.{left_out}"


def _license(crate: ROCrate, name: str) -> ContextEntity:
    url = name if "://" in name else f"https://spdx.org/licenses/{name}"
    about = {"@type": "CreativeWork", "name": name, "description": f"The licence {name}"}
    return crate.add(ContextEntity(crate, url, about))


def _add(crate: ROCrate, folder: Path, part: Part, digest: str):
    file = folder / part.path
    about = {
        "name": part.path,
        "description": part.about,
        "contentSize": str(file.stat().st_size),
        "sha256": digest,
        "encodingFormat": _FORMATS.get(file.suffix, "text/plain"),
    }
    if part.path == "workflow/Snakefile":
        return crate.add_workflow(file, part.path, properties=about, main=True, lang="snakemake")
    return crate.add_file(file, part.path, properties=about)


def _describe(crate: ROCrate, workflow, study: Study) -> None:
    workflow["name"] = "headtypes"
    workflow["version"] = ", ".join(filter(None, study.made.commits)) or "unknown"
    workflow["license"] = _license(crate, "MIT")
    workflow["conformsTo"] = crate.add(
        ContextEntity(
            crate,
            "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE",
            {"@type": "CreativeWork", "name": "Bioschemas ComputationalWorkflow", "version": "1.0-RELEASE"},
        )
    )
    workflow["softwareRequirements"] = [
        _software(crate, name, f"{page}{quote(version)}/", version)
        for name, page, versions in [
            ("Python", "https://www.python.org/downloads/release/python-", study.made.python),
            *((name, f"https://pypi.org/project/{name}/", versions) for name, versions in study.made.packages.items()),
        ]
        for version in versions
    ]


def _software(crate: ROCrate, name: str, url: str, version: str) -> ContextEntity:
    about = {"@type": "SoftwareApplication", "name": name, "url": url, "softwareVersion": version}
    return crate.add(ContextEntity(crate, url, about))


def _input(crate: ROCrate, source: Source) -> ContextEntity:
    about = {"@type": "CreativeWork", "name": f"{source.kind} {source.name}", "description": str(source)}
    if source.version:
        about["version"] = source.version
    if source.sha256:
        about["identifier"] = _compact([f"sha256:{digest}" for digest in source.sha256.values()])
    return crate.add(ContextEntity(crate, source.url or f"#{source.id}", about))


def _compact(values: list):
    """A value by itself where there is one, as RO-Crate recommends."""
    return values[0] if len(values) == 1 else values
