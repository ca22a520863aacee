#!/usr/bin/env bash
# Resolves the package and the groups of pyproject.toml for every supported Python, on Linux and macOS, into the files
# beside this one. A version that stands in them stays; what stands nowhere gets its newest version.
# Needs uv and the package index.
set -euo pipefail
cd "$(dirname "$0")/.."
unset UV_FIND_LINKS  # Wheels at hand may be of other builds than the index's.
compile=(uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate)
pins=$(mktemp)
trap 'rm -f "$pins" "$pins".*' EXIT
grep --no-filename == envs/requirements*.txt > "$pins"

# Other systems' packages go, and what builds of torch for CUDA pin: those for CPUs need none of it.
resolve() {
  "${compile[@]}" --constraint "$pins" pyproject.toml --group run "$@" |
    grep --invert-match --extended-regexp "^(cuda|nvidia)-|^triton==|sys_platform == '(emscripten|win32)'"
}

# The first lines of a file say what it is for.
write() {
  { grep --extended-regexp '^(#|-r)' "envs/$1"; cat "$2"; } > "$pins.file"
  cat "$pins.file" > "envs/$1"
  "${compile[@]}" --no-deps --generate-hashes --no-emit-package torch "$2" > "envs/hashes/$1"
}

# What a group has beside the run.
further() {
  resolve --group "$1" | grep --invert-match --line-regexp --fixed-strings --file "$pins.run"
}

resolve > "$pins.run"
further tests > "$pins.tests"
further slurm > "$pins.slurm"
write requirements.txt "$pins.run"
write requirements-tests.txt "$pins.tests"
write requirements-slurm.txt "$pins.slurm"

{ sed '/- pip:$/q' envs/headtypes.yaml; sed 's/^/      - /' "$pins.run"; } > "$pins.conda"
cat "$pins.conda" > envs/headtypes.yaml
