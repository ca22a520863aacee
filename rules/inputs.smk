# What rules read: functions of a job's wildcards, for one file, or for many of a kind that the job finds by their keys.

# Relative to the working directory: a folder that was moved has the same inputs.
PAGES = local(os.path.relpath(SCRIPTS / "headtypes" / "pages"))


def of_user(files):
    """Files that no job makes, to which a prefix does not apply; what they hold decides, and not how old they are."""
    return [ancient(local(file)) for file in files]


def of_each(pattern, entries):
    """The path of a result for each entry of the plan, in their order."""
    return [path for entry in entries for path in expand(pattern, **entry.wildcards)]


def each(pattern, entries, by="key"):
    """The path of a result for each entry of the plan, by the attribute that tells it from the others.

    entries: a list, or {key: entry}; or what gives one of them by a job's wildcards, and then so does this.
    """
    if callable(entries):
        return lambda wildcards: each(pattern, entries(**wildcards), by)
    named = entries if isinstance(entries, dict) else {getattr(entry, by): entry for entry in entries}
    return {key: path for key, entry in named.items() for path in of_each(pattern, [entry])}


# Of each rule that has them, the inputs of which there are many of a kind, by a job's wildcards.
KEYED = {}


def keyed(rule, **inputs):
    """Inputs that are many files of a kind, which a job finds by their keys: {key: path}, or a function (`each`)."""
    KEYED[rule] = {name: files if callable(files) else partial(always, files) for name, files in inputs.items()}
    return {name: paths_by(files) for name, files in KEYED[rule].items()}


def always(files, wildcards):
    """The same for every job."""
    return files


def paths_by(files):
    """An input function: the paths alone."""
    return lambda wildcards: list(files(wildcards).values())


def of(pattern, find):
    """An input function: the path for the entry of the plan that is found by the wildcards, if there is one."""

    def path(wildcards):
        entry = find(**wildcards)
        return expand(pattern, **entry.wildcards)[0] if entry else []

    return path


def of_task(pattern):
    """An input function: the path for a partition's model and task."""
    return lambda wildcards: pattern.format(
        model=wildcards.model,
        task=plan.partitions[wildcards.model, wildcards.partition].task,
    )


def of_test(task):
    """The sentences on which choices made on a treebank are scored, if it has a file of them."""
    return paths.TEST_ROWS.format(task=task) if plan.files.of_test(task) else []


def head_outputs_of(wildcards):
    """The mean outputs of the model's heads, where the condition replaces a head's output by its mean."""
    condition, _ = plan.reading(wildcards.condition)
    if not plan.needs_head_outputs(condition):
        return []
    return of_task(paths.HEAD_OUTPUTS)(wildcards)


def _by_kind(task, treebank, coreference):
    return {"treebank": treebank, "coreference": coreference}[plan.kind_of(task).name]


def guesses_of(wildcards):
    """What every head guesses on a task: the heads of words in a treebank, or the antecedents of mentions."""
    return _by_kind(wildcards.task, paths.ARCS, paths.ANTECEDENTS).format(**wildcards)


def best_of(wildcards):
    """Which heads are the best on a task: for the relations of a treebank, or for the antecedents of mentions."""
    return _by_kind(wildcards.task, paths.RELATIONS_BEST, paths.COREFERENCE).format(**wildcards)


def texts_of_gradients(wildcards):
    """The samples of a task of texts; the questions, or pairs, of a task that the model answers."""
    return (paths.SAMPLES if plan.is_text(wildcards.task) else paths.QUESTIONS).format(task=wildcards.task)


def windows_of_gradients(wildcards):
    """The windows of a task that the model answers."""
    return [] if plan.is_text(wildcards.task) else paths.WINDOWS.format(**wildcards)


def compared_with(*names):
    """The comparisons with those of the papers that there is something to compare with."""
    compared = [name for name in names if PAPERS[name].inputs(plan, paths)]
    return expand(rules.compare_with_paper.output, paper=compared)
