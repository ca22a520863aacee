"""The user's files that a configuration names, so that a change of them is seen; none for other sources."""

from dataclasses import dataclass

from headtypes.data.files import files_of
from headtypes.models.files import model_files
from headtypes.planning.config.schema import Config


@dataclass(frozen=True)
class UserFiles:
    """The user's files of models, of tasks and of the vectors of probes."""

    config: Config

    def of_model(self, model: str) -> list[str]:
        """The files of a model."""
        source = self.config.models[model].source
        if source.package is None and source.gguf is not None:
            return [source.gguf]
        files = [] if source.folder is None else model_files(source.folder, source.pickle)
        return [str(file) for file in files]

    def of_task(self, task: str) -> list[str]:
        """The files of a task's data."""
        source = self.config.tasks[task].source
        if source.folder is not None:
            return files_of(source.folder, f"config: tasks.{task}.source.folder")
        return _given(source.file)

    def of_training(self, task: str) -> list[str]:
        """The file of a task's training data."""
        return _given(self.config.tasks[task].source.training_file)

    def of_test(self, task: str) -> list[str]:
        """The file on which choices made on a treebank are scored."""
        return _given(self.config.tasks[task].source.test_file)

    def of_vectors(self) -> list[str]:
        """The file of the probes' word vectors."""
        return _given(self.config.probes.vectors)


def _given(file: str | None) -> list[str]:
    return [] if file is None else [file]
