"""Partition files: what is written is read, every way in which a user's file can be wrong is said."""

import json

import numpy as np
import pytest

from headtypes.analyses.types.clustering import cluster_heads, import_partition, partition_of
from headtypes.analyses.types.partitions import COLUMNS, order_types, read_partition
from headtypes.core.errors import InputError
from headtypes.core.table_files import write_csv
from headtypes.planning.checks import types_in
from tests.support.planted import heads

SHAPE = (4, 6)
FEATURES, NAMES = heads({"dense": 8, "diagonal": 4, "dense_vertical": 7, "vertical": 5}, noise=0.1, seed=1)
SETTINGS = {"method": "kmeans", "scale": False, "restarts": 10, "seed": 0}


def clustered(k=4):
    return partition_of(cluster_heads(FEATURES, k=k, **SETTINGS), FEATURES, SHAPE)


@pytest.fixture
def user_file(tmp_path):
    """Write a CSV of lines, by default one for each head, and return its path."""

    def write(lines=None, header="layer,head,type", encoding="utf-8"):
        path = tmp_path / "mine.csv"
        path.write_bytes("\n".join([header, *(head_lines() if lines is None else lines), ""]).encode(encoding))
        return path

    return write


def head_lines(type_of=lambda layer, head: "even" if head % 2 == 0 else "odd", start=0):
    return [f"{layer + start},{head + start},{type_of(layer, head)}" for layer, head in np.ndindex(SHAPE)]


def test_clusters_become_rows_by_layer_and_head():
    partition = clustered()
    assert list(partition.table.columns) == COLUMNS
    assert partition.types == ("dense", "diagonal", "dense_vertical", "vertical")
    assert partition.shape == SHAPE
    for row in partition.table.itertuples():
        feature = FEATURES[row.Index]
        assert (row.Index, row.type) == (row.layer * SHAPE[1] + row.head, NAMES[row.Index])
        assert row.near == pytest.approx(feature[0] + feature[16])
        assert row.special == pytest.approx(feature[17:].sum())
        assert row.far == pytest.approx(feature[1:16].sum())
    for name in partition.types:
        expected = [divmod(index, SHAPE[1]) for index in np.flatnonzero(name == NAMES)]
        assert partition.heads_of(name) == expected
        # As BertViz does.
        assert json.loads(json.dumps(partition.heads_of(name))) == [list(head) for head in expected]


def test_doubtful_marks_every_head_of_the_type():
    # No cluster looks at special tokens: the name vertical is left over.
    features, _ = heads({"dense": 8, "diagonal": 10, "dense_vertical": 6}, noise=0.1, seed=2)
    clustering = cluster_heads(features, k=4, **SETTINGS)
    doubtful = {name for name, doubt in zip(clustering.naming.names, clustering.naming.doubts, strict=True) if doubt}
    assert doubtful
    table = partition_of(clustering, features, SHAPE).table
    assert set(table[table.doubtful].type) == doubtful
    assert not set(table[~table.doubtful].type) & doubtful


@pytest.mark.parametrize("k", [4, 11])
def test_written_is_read_and_imported(tmp_path, k):
    partition = clustered(k)
    write_csv(tmp_path / "p.csv", partition.table)
    read = read_partition(tmp_path / "p.csv")
    assert read.types == partition.types
    np.testing.assert_array_equal(read.type_of, partition.type_of)
    for column in ("layer", "head", "cluster", "type", "doubtful"):
        assert read.table[column].tolist() == partition.table[column].tolist()
        assert read.table[column].dtype == partition.table[column].dtype
    for column in ("silhouette", "near", "special", "far"):
        np.testing.assert_allclose(read.table[column], partition.table[column], rtol=1e-8)
    write_csv(tmp_path / "again.csv", read.table)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "p.csv").read_bytes()
    first = (tmp_path / "p.csv").read_bytes().split(b"\n")[0]
    assert first == b"layer,head,cluster,type,silhouette,near,special,far,doubtful"
    imported = import_partition(tmp_path / "p.csv", FEATURES, SHAPE)
    np.testing.assert_array_equal(imported.type_of, partition.type_of)
    assert imported.types == partition.types


def test_types_are_ordered_by_number_and_as_in_the_paper():
    assert order_types([f"type-{n}" for n in (10, 2, 1, 2)]) == ("type-1", "type-2", "type-10")
    assert order_types(["other", "vertical", "dense", "diagonal"]) == ("dense", "diagonal", "vertical", "other")
    assert order_types(["a1", "a01", "1a", "b", "1"]) == order_types(["1", "b", "a01", "1a", "a1"])


def test_import_fills_what_the_file_lacks(user_file, tmp_path):
    lines = [f"x,{line},0.5" for line in reversed(head_lines())]
    partition = import_partition(user_file(lines, header="note,layer,head,type,weight"), FEATURES, SHAPE)
    assert partition.types == ("even", "odd")
    assert partition.table.cluster.tolist() == [0, 1] * 12
    assert partition.table.type.tolist() == ["even", "odd"] * 12
    assert not partition.table.doubtful.any()
    assert list(partition.table.columns) == COLUMNS
    np.testing.assert_allclose(partition.table[["near", "special", "far"]].sum(axis=1), 1)
    np.testing.assert_allclose(partition.table.near, clustered().table.near)
    # Silhouette of the first head, by hand.
    distances = np.linalg.norm(FEATURES - FEATURES[0], axis=1)
    inner, outer = distances[2::2].mean(), distances[1::2].mean()
    assert partition.table.silhouette[0] == pytest.approx((outer - inner) / max(inner, outer))
    write_csv(tmp_path / "p.csv", partition.table)
    assert read_partition(tmp_path / "p.csv").types == ("even", "odd")


@pytest.mark.parametrize("name", ["NA", "1", "True", "none"])
def test_single_type_has_no_silhouette_and_names_stay_text(user_file, tmp_path, name):
    partition = import_partition(user_file(head_lines(lambda layer, head: name)), FEATURES, SHAPE)
    assert partition.table.silhouette.isna().all()
    write_csv(tmp_path / "p.csv", partition.table)
    assert (tmp_path / "p.csv").read_text().split("\n")[1].startswith(f"0,0,0,{name},,")
    read = read_partition(tmp_path / "p.csv")
    assert read.types == (name,)
    assert read.table.silhouette.isna().all()
    assert len(read.heads_of(name)) == 24


@pytest.mark.parametrize("separator", [", ", ";", "\t"])
def test_import_reads_what_spreadsheets_write(user_file, separator):
    lines = [line.replace(",", separator) + "\r" for line in head_lines()]
    path = user_file(lines, separator.join(("layer", "head", "type\r")), encoding="utf-8-sig")
    types = import_partition(path, FEATURES, SHAPE).types
    assert types == types_in("partitions.mine.file", str(path)) == ("even", "odd")


def changed(number, line):
    lines = head_lines()
    lines[number] = line
    return lines


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*head_lines(), "1,2,odd"], r"mine.csv, line 26: the head is '2'; its layer has a line for it already"),
        (["", *head_lines(), "", "1,2,odd"], r"mine.csv, line 28: the head is '2'"),
        (head_lines()[1:], r"mine.csv: 1 of the model's 4 x 6 heads have no line, .* layer 0, head 0"),
        (head_lines()[:-3], r"mine.csv: 3 of .* layer 3, head 3; each must have one"),
        ([], r"mine.csv: 24 of the model's 4 x 6 heads"),
        (changed(3, "0,6,odd"), r"mine.csv, line 5: the head is '6'; it must be a whole number from 0 to 5\.$"),
        (changed(3, "-1,3,odd"), r"mine.csv, line 5: the layer is '-1'; it must be a whole number from 0 to 3\.$"),
        (head_lines(start=1), r"mine.csv, line 20: the layer is '4'.*counts layers from 1: subtract 1\.$"),
        ([f"{layer},{head + 1},a" for layer in range(4) for head in range(6)], "line 7: .*counts heads from 1"),
        *(
            (changed(3, f"{it},3,odd"), f"line 5: the layer is '{it}'; it must be a whole")
            for it in ("0_0", "0.5", "x", "")
        ),
    ],
)
def test_import_says_what_is_wrong(user_file, lines, message):
    with pytest.raises(InputError, match=message):
        import_partition(user_file(lines), FEATURES, SHAPE)


def test_missing_columns_and_files_and_encodings(user_file, tmp_path):
    with pytest.raises(InputError, match=r"mine.csv lacks the columns head, type.* it names layer, kind\."):
        import_partition(user_file(["0,odd"], header="layer,kind"), FEATURES, SHAPE)
    with pytest.raises(InputError, match=r"mine.csv lacks the columns layer, head, type: its first line must name l"):
        import_partition(user_file(["0|0|odd"], header="layer|head|type"), FEATURES, SHAPE)
    with pytest.raises(InputError, match=r"mine.csv cannot be read as CSV \(Length of header"):
        import_partition(user_file(header="layer,head"), FEATURES, SHAPE)
    with pytest.raises(InputError, match=r"none.csv does not exist"):
        import_partition(tmp_path / "none.csv", FEATURES, SHAPE)
    with pytest.raises(InputError, match=r"mine.csv, line 5 is not UTF-8 text; save the file as UTF-8"):
        import_partition(user_file(changed(3, "0,3,läng"), encoding="latin-1"), FEATURES, SHAPE)
