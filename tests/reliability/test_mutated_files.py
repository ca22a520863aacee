"""Files of others with faults in bytes and values: each reader gives a result, or one sentence that names the file."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reliability.mutated_files import READERS, fault_of, mutated


@pytest.mark.parametrize("name", READERS)
def test_without_faults_it_is_read(name, tmp_path):
    content, read = READERS[name]
    (tmp_path / name).write_bytes(content)
    read(tmp_path / name)


@pytest.mark.parametrize("name", READERS)
@settings(derandomize=True, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_a_file_with_faults_is_read_or_refused_in_a_sentence(name, tmp_path, seed):
    content, read = READERS[name]
    file = tmp_path / name
    file.write_bytes(mutated(content, Random(seed)))
    assert fault_of(file, read) is None
