"""Inputs of flashinfer-bench that are read from safetensors files."""

import base64
import importlib.util
import json
import struct
import sys
import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kernelbot.catalog.importing.folders import Imported, import_problems
from kernelbot.catalog.problem import load_problem
from kernelbot.importers.flashinfer import given
from tests.catalog.importing.suites import (
    BLOB,
    GATHER,
    IDS,
    KEEP,
    given_record,
    lay_flashinfer,
    lay_given,
    safetensors,
)

IDS_BYTES = struct.pack("<3i", *IDS)
KEEP_TENSOR = ("BOOL", [3], bytes(KEEP))
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("safetensors") is None, reason="suites are an extra: no safetensors"
)


def imported(tmp_path: Path, largest: int | None = None, **laid: Any) -> Imported:
    suite = lay_given(tmp_path / "suite", **laid)
    return import_problems("flashinfer-bench", suite, tmp_path / "out", largest=largest)


def why_not(tmp_path: Path, largest: int | None = None, **laid: Any) -> str:
    found = imported(tmp_path, largest, **laid)
    assert () == found.folders
    (finding,) = found.refused
    return str(finding)


def test_they_become_a_file_of_the_problem(tmp_path: Path) -> None:
    (folder,) = imported(tmp_path).folders
    spec = load_problem(folder).definition.spec
    assert [{"workload": "w1", "given": 0, "N": 5, "K": 3, "seed": 1}] == [
        dict(case.args) for case in spec.benchmarks
    ]
    given = json.loads((folder / "given_0.json").read_text())
    read = {
        name: (
            entry["dtype"],
            entry["shape"],
            zlib.decompress(base64.b64decode(entry["zlib_base64"])),
        )
        for name, entry in given.items()
    }
    assert {"ids": ("int32", [3], IDS_BYTES), "keep": ("bool", [3], bytes(KEEP))} == read
    assert "Recorded, and so the same in all calls of a workload: `ids`, `keep`." in (
        load_problem(folder).definition.description
    )


@pytest.mark.parametrize(
    ("blob", "expected"),
    [
        (b"", "is no safetensors file: Error while deserializing: header too small"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "only a pointer of git-lfs"),
        (b"\x00" * 100, "is no safetensors file"),
        (b"\x02" + b"\x00" * 7 + b"{}", "inputs.ids: in `./blob/workloads/gather_1.safetensors`"),
        (safetensors(ids=("I32", [3], IDS_BYTES)), "inputs.keep: in"),
        (safetensors(ids=("I64", [3], IDS_BYTES * 2)), "it is of type I64, expected I32"),
        (safetensors(ids=("I32", [1, 3], IDS_BYTES)), "its shape is [1, 3], expected [3]"),
        (
            safetensors(ids=("I32", [3], IDS_BYTES), keep=("BOOL", [3], b"\x00\x01\x02")),
            "it has bytes that are neither true nor false",
        ),
    ],
)
def test_a_file_that_does_not_fit(tmp_path: Path, blob: bytes, expected: str) -> None:
    assert expected in why_not(tmp_path, blob=blob)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"path": "../../../etc/passwd"}, "leaves the checkout"),
        ({"path": "/etc/passwd"}, "leaves the checkout"),
        ({"path": "./blob/a'; echo x"}, "read from `./blob/a'; echo x`, which isn't there"),
        ({"path": "x" * 5000}, "which isn't there"),
        ({"path": "a\0b"}, "can't be followed"),
        ({"path": "./blob"}, "which isn't there"),
        ({"path": None}, "ids has no `path` or no `tensor_key`"),
        ({"tensor_key": ""}, "ids has no `path` or no `tensor_key`"),
    ],
)
def test_a_file_that_is_not_read(tmp_path: Path, source: dict[str, Any], expected: str) -> None:
    ids = {"type": "safetensors", "path": BLOB, "tensor_key": "ids", **source}
    told = why_not(tmp_path, ids=ids)
    assert "no workload can be imported: ids " in told
    assert expected in told


def test_a_link_out_of_the_suite_is_not_followed(tmp_path: Path) -> None:
    suite = lay_given(tmp_path / "suite")
    (suite / BLOB).unlink()
    (suite / BLOB).symlink_to("/etc/passwd")
    found = import_problems("flashinfer-bench", suite, tmp_path / "out")
    assert "leaves the checkout" in str(found.refused)


def test_what_has_nothing_random_would_be_the_same_in_each_call(tmp_path: Path) -> None:
    values = {"type": "safetensors", "path": BLOB, "tensor_key": "values"}
    assert "every call would have the same data" in why_not(tmp_path, values=values)


def test_recorded_inputs_cannot_be_made_smaller(tmp_path: Path) -> None:
    assert "ids, keep can't be made smaller" in why_not(tmp_path, largest=4)


def test_what_is_no_input_is_not_read(tmp_path: Path) -> None:
    more = {"type": "safetensors", "path": BLOB, "tensor_key": "ids"}
    assert "more is no input of the definition" in why_not(tmp_path, more=more)


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "MAX_READ_BYTES", 1 << 20)
    ids = ("I32", [1 << 19], bytes(1 << 21))
    told = why_not(tmp_path, blob=safetensors(ids=ids, keep=KEEP_TENSOR))
    assert "is larger than 1 MiB" in told


def test_no_more_is_packed_once_it_is_too_much_for_a_problem(tmp_path: Path) -> None:
    size = 3 << 18
    inputs = {name: {"shape": ["K"], "dtype": "int8"} for name in ("a", "b", "c")}
    definition = {
        **GATHER,
        "axes": {"N": {"type": "var"}, "K": {"type": "const", "value": size}},
        "inputs": {"values": {"shape": ["N"], "dtype": "bfloat16"}, **inputs},
    }
    keys = {"a": "noise", "b": "noise", "c": "missing"}  # the last one isn't looked for any more
    sources = {
        name: {"type": "safetensors", "path": BLOB, "tensor_key": key} for name, key in keys.items()
    }
    record = given_record()
    record["workload"].update(axes={"N": 5}, inputs={"values": {"type": "random"}, **sources})
    lay_flashinfer(tmp_path / "suite", definition, [record])
    file = tmp_path / "suite" / BLOB
    file.parent.mkdir(parents=True)
    file.write_bytes(safetensors(noise=("I8", [size], Random(1).randbytes(size))))
    (finding,) = import_problems("flashinfer-bench", tmp_path / "suite", tmp_path / "out").refused
    assert "those in files are larger than 1 MiB, compressed" in str(finding)


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    assert "`pip install '.[suites]'`" in why_not(tmp_path)
