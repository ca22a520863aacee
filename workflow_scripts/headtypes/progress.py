"""Progress on long work, with an estimate of the time left."""

import sys

from tqdm import tqdm


def progress(total: int, what: str, unit: str = "it") -> tqdm:
    """Return a progress bar on standard error: live on a terminal, one line every ten seconds in a log file.

    total: number of units of work (samples, windows, steps), so that the estimate weighs batches by content.
    """
    live = sys.stderr.isatty()
    return tqdm(
        total=total,
        desc=what,
        unit=unit,
        file=sys.stderr,
        mininterval=0.5 if live else 10,
        maxinterval=1 if live else 20,
        ascii=not live,
        dynamic_ncols=live,
        ncols=None if live else 100,
        smoothing=0.1,
    )
