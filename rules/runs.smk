# Which runs work in a directory, and what Snakemake keeps of it for the next one.

from contextlib import ExitStack, contextmanager

import psutil
import snakemake.benchmark
from snakemake.exceptions import LockException
from snakemake.persistence.file import FilePersistence

from headtypes.core.files import reach_disk
from headtypes.planning import forks
from headtypes.planning.code.digest import reached_modules

# Loading the libraries once takes as long as some of the jobs that are spared it.
FORKED_FROM = 8


def is_run():
    """Whether jobs are going to run; it is not known yet while the rules are read."""
    return workflow.executor_plugin is not None and not workflow.dryrun


class Keeping(FilePersistence):
    """What Snakemake keeps of a directory, so that it outlasts a power cut and the end of a run beside."""

    def _write_record(self, key, record):
        """On the disk before the result counts as finished: without it, an edit would not make the result again."""
        super()._write_record(key, record)
        reach_disk(self._record_path(self._metadata_path, key))

    @contextmanager
    def lock(self):
        """Look for locks and write one's own while no other run does, since each would find none."""
        with ExitStack() as held:
            with locks.turn(self.path):
                try:
                    held.enter_context(super().lock())
                except LockException:
                    # It has begun since the rules were read. Snakemake would name nobody and advise --unlock.
                    if not in_use and (sentence := locks.run_beside()):
                        logger.warning(sentence)
                    raise
            if in_use and not locks.run_beside():
                raise WorkflowError(
                    "The run that used this directory has ended while this one was planned, and may have made what this "
                    "one would make: run again."
                )
            yield

    def _delete_locks(self):
        """Those of this run, if it has any: Snakemake would delete all, also those of a run beside."""
        if not self._lockfile:
            super()._delete_locks()
        while self._lockfile:
            Path(self._lockfile.popitem()[1]).unlink(missing_ok=True)


def prepare_dag(prepare=workflow._prepare_dag, **settings):
    """Have Snakemake read what it keeps in the directory, which only a run needs to write."""
    try:
        kept = locks.check_writable() if is_run() else locks.only_to_read(workflow.snakemake_tmp_dir)
    except InputError as error:
        raise WorkflowError(str(error)) from None
    sys.modules["snakemake.workflow"].FilePersistence = lambda **given: Keeping(
        **(given if kept is None else {**given, "path": kept})
    )
    prepare(**settings)


def build_dag(build=workflow._build_dag):
    """Build the DAG and, if this is a run, attach it to the directory before Snakemake looks for locks in it."""
    build()
    if is_run():
        locks.attach_run()


# Before Snakemake locks the directory, nothing else tells a run from a dry run or from --lint.
if workflow.is_main_process:
    workflow._prepare_dag = prepare_dag
    workflow._build_dag = build_dag


def refuse_orphans():
    """End the run where a job of a killed one is still alive."""
    try:
        locks.refuse_orphans()
    except InputError as error:
        raise WorkflowError(str(error)) from None


class Forked(psutil.Process):
    """A process whose children include the fork that runs what it was asked to (`headtypes.planning.forks`)."""

    def children(self, recursive=False):
        children = super().children(recursive)
        used = forks.used_by(sys.executable, self.pid)
        return children if not used or "cpu_s" in used else [*children, psutil.Process(used["process"])]


class ForkedTimer(snakemake.benchmark.BenchmarkTimer):
    """Snakemake's measurement of a job, which looks at the job's process and what that has started."""

    def __init__(self, pid, *args):
        super().__init__(pid, *args)
        self.main = Forked(pid)

    def cancel(self):
        """End it, with what the system has counted: a short job can end before Snakemake looks again."""
        super().cancel()
        used, record = forks.used_by(sys.executable, self.pid), self.bench_record
        if "cpu_s" in used:
            record.cpu_time, record.max_rss = used["cpu_s"], max(record.max_rss or 0, used["rss_mb"])


def start_forks():
    """Run jobs in forks of a process that loads the libraries once, where there are enough of them.

    Not with a GPU, which a process could have touched while it loaded them; nor where jobs have an environment of their
    own, or run elsewhere.
    """
    settings = workflow.deployment_settings
    many = sum(1 for _ in workflow.dag.needrun_jobs()) >= FORKED_FROM
    if not (many and workflow.local_exec and workflow.is_main_process) or settings.deployment_method:
        return
    if sys.platform == "linux" and not GPUS and not forks.is_program(sys.executable):
        scripts = {SCRIPTS / f"{stage.script}.py" for stage in STAGES.values()}
        files = sorted({SCRIPTS / name for script in scripts for name in reached_modules(script)})
        sys.executable = str(forks.start(files))
        snakemake.benchmark.BenchmarkTimer = ForkedTimer
