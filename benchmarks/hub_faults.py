"""Every fault that the Hub may have, at every request of a download: what is said, and does the same command go on?

    python benchmarks/hub_faults.py [--kinds 503 "cut off" ...] [--jobs "fetch_model bert" ...]

Runs from anywhere, without network: the jobs that fetch a small model and two small data sets, through the real
libraries, from a Hub on the loopback address (`tests/reliability/test_hub.py`, which tries a part of this). Takes
about ten minutes for all of it. Printed is a row for each fault and request: `told` if the job ended with its
sentence, `borne` if it came to the same result all the same, else what is wrong; and each sentence once. The exit
status is 1 if anything was wrong: a traceback, another result, a file half-taken, or a command that does not go on.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow_scripts")]

from tests.reliability.test_hub import DATA, MODEL, PAIRS, Bank  # noqa: E402
from tests.support.hub import IN_THE_BODY, REFUSALS, WITHOUT_ANSWER, Fault  # noqa: E402

KINDS = (*WITHOUT_ANSWER, *IN_THE_BODY, *REFUSALS)
JOBS = (MODEL, DATA, PAIRS)


def outcome(bank: Bank, job: str, fault: Fault, whole: dict[str, bytes]) -> tuple[str, str]:
    """What came of a job with a fault, and the last line that it printed."""
    bank.empty()
    with bank.hub.failing(fault):
        status, printed, made = bank.run(job, "impatient" if fault.kind == "slow" else "plainly")
    last = re.split(r"[\r\n]", printed.strip())[-1]
    wrong = []
    if "Traceback" in printed:
        wrong.append("a traceback")
    if made != (whole if status == 0 else {}):
        wrong.append("another result")
    if list(bank.home.glob("hub/**/*.incomplete")):
        wrong.append("a file half-taken")
    status_again, _, made_again = bank.run(job)
    if (status_again, made_again) != (0, whole):
        wrong.append("does not go on")
    return ", ".join(wrong) or ("told" if status else "borne"), last if status else ""


def main() -> int:
    """Try the faults of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=JOBS)
    arguments = parser.parse_args()
    found, sentences = [], set()
    with tempfile.TemporaryDirectory() as folder:
        bank = Bank(Path(folder))
        for job in arguments.jobs:
            bank.empty()
            with bank.hub.failing(None):
                whole = bank.fetched(job)
            requests = list(dict.fromkeys(bank.hub.requests))
            for kind in arguments.kinds:
                for request in requests:
                    if kind in IN_THE_BODY and not request.startswith("GET"):
                        continue
                    came, sentence = outcome(bank, job, Fault(kind, f"^{re.escape(request)}$"), whole)
                    found.append(came)
                    sentences.add(sentence)
                    print(f"{job:18} {kind:20} {came:8} {re.sub('[0-9a-f]{40}', 'REVISION', request)}", flush=True)
        bank.close()
    print(*sorted(sentences - {""}), sep="\n")
    return int(any(came not in ("told", "borne") for came in found))


if __name__ == "__main__":
    sys.exit(main())
