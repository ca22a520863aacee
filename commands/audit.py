"""Are the results on disk those of the configuration? Takes the arguments of `snakemake`, and --remove.

python commands/audit.py [--remove] [--configfile FILE] [--directory FOLDER] [targets]

It does not need Snakemake's metadata, so it also works on results that were copied from another machine. The exit
status is 1 where something is missing, foreign, damaged or stale. Notes say where records differ in versions, threads
or sources, or a report is older than the results. --remove removes stale and damaged results; the next `snakemake`
makes them again.
"""

import sys
from collections import Counter

from planning import ending_with_its_pipe, planned

from headtypes.planning.tools.agreement import disagreements
from headtypes.planning.tools.audit import audit, remove


def main(arguments: list[str]) -> int:
    """Print what is not as it should be; return the exit status."""
    jobs = planned([argument for argument in arguments if argument != "--remove"]).jobs
    findings = audit(jobs)
    for finding in findings:
        print(f"{finding.state:8} {finding.path}: {finding.why}")
    for sentence in disagreements(jobs):
        print(f"note     {sentence}")
    counts = Counter(finding.state for finding in findings)
    print(", ".join(f"{count} {state}" for state, count in counts.items()) or "All results are as they should be.")
    if "--remove" in arguments:
        print(f"{len(remove(findings))} removed.")
    return int(bool(findings))


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit()
    ending_with_its_pipe()
    sys.exit(main(sys.argv[1:]))
