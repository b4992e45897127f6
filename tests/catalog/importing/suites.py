"""Small problems of our own in the formats of other suites."""

import json
import struct
from pathlib import Path
from typing import Any

MODEL = '''\
import torch
import torch.nn as nn


class Model(nn.Module):
    """Scales what a layer gives."""

    def __init__(self, width, factor):
        super().__init__()
        self.layer = nn.Linear(width, 3)
        self.factor = factor

    def forward(self, x):
        return self.layer(x) * self.factor


rows = 2**9
width = 1024


def get_inputs():
    return [torch.rand(rows, width)]


def get_init_inputs():
    return [width, 0.5]
'''
DEFINITION: dict[str, Any] = {
    "name": "scaled_add_k4",
    "op_type": "elementwise",
    "description": "Adds, then scales.",
    "axes": {"M": {"type": "var"}, "K": {"type": "const", "value": 4}},
    "inputs": {
        "a": {"shape": ["M", "K"], "dtype": "bfloat16"},
        "b": {"shape": ["K"], "dtype": "float32"},
        "scale": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"sum": {"shape": ["M", "K"], "dtype": "float32"}},
    "reference": "import torch\n\n\ndef run(a, b, scale):\n    return (a.float() + b) * scale\n",
}
TENSARA = """\
import torch
from problem import Problem


class twice(Problem):
    parameters = [
        {"name": "values", "type": "float", "pointer": True, "const": True},
        {"name": "doubled", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="twice")

    def reference_solution(self, values):
        return values * 2

    def generate_test_cases(self):
        sizes = [("small", 7), ("large", 1 << 20)]
        cases = []
        for name, n in sizes:
            seed = Problem.get_seed(f"{self.name}_{name}")
            cases.append({"n": n, "create_inputs": lambda n=n, seed=seed: (
                torch.rand(n, device="cuda", dtype=self.param_dtype("values"),
                           generator=torch.Generator(device="cuda").manual_seed(seed)),
            )})
        return cases

    def verify_result(self, expected_output, actual_output):
        good = torch.allclose(actual_output, expected_output)
        return good, {} if good else {"message": "not doubled"}

    def get_extra_params(self, test_case):
        return [test_case["n"]]
"""
STATEMENT = """\
---
slug: "../../etc"
title: "Twice"
---

Double each value.
"""
BASELINE = "def solution(values, doubled, n):\n    doubled[:] = values * 2\n"


def record(uuid: str = "w1", **changes: Any) -> dict[str, Any]:
    """A line of a workloads file."""
    workload = {
        "uuid": uuid,
        "axes": {"M": 3},
        "inputs": {
            "a": {"type": "random"},
            "b": {"type": "random"},
            "scale": {"type": "scalar", "value": 0.5},
        },
        **changes,
    }
    return {"definition": "scaled_add_k4", "workload": workload, "solution": None}


def lay_kernelbench(folder: Path, text: str = MODEL, name: str = "1_Scale.py") -> Path:
    """A module in a folder of its level."""
    return _written(folder / "level1" / name, text).parent


def lay_flashinfer(
    folder: Path, definition: dict[str, Any] | None = None, lines: list[Any] | None = None
) -> Path:
    """Definitions and workloads."""
    definition = definition or DEFINITION
    name = Path(definition["name"]).name
    _written(folder / "definitions" / "elementwise" / f"{name}.json", json.dumps(definition))
    records = lines if lines is not None else [record(), record("w2", axes={"M": 700})]
    text = "".join(json.dumps(one) + "\n" for one in records)
    _written(folder / "workloads" / "elementwise" / f"{name}.jsonl", text)
    return folder


def lay_tensara(folder: Path, text: str = TENSARA, name: str = "twice") -> Path:
    """A problem with its statement and baseline."""
    _written(folder / name / "problem.md", STATEMENT)
    _written(folder / name / "torch.py", BASELINE)
    return _written(folder / name / "def.py", text).parent.parent


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


GATHER: dict[str, Any] = {
    "name": "gather",
    "op_type": "gather",
    "axes": {"N": {"type": "var"}, "K": {"type": "var"}},
    "inputs": {
        "values": {"shape": ["N"], "dtype": "bfloat16"},
        "ids": {"shape": ["K"], "dtype": "int32"},
        "keep": {"shape": ["K"], "dtype": "bool"},
    },
    "outputs": {"gathered": {"shape": ["K"], "dtype": "bfloat16"}},
    "reference": "def run(values, ids, keep):\n    return values[ids.long()] * keep\n",
}
"""Two of its inputs are recorded ones."""
IDS, KEEP = (4, 0, 3), (True, False, True)
BLOB = "./blob/workloads/gather_1.safetensors"


def given_record(**sources: Any) -> dict[str, Any]:
    """A workload of `GATHER`, whose recorded inputs are in `BLOB`. `sources`: other ones."""
    inputs = {
        "values": {"type": "random"},
        **{
            name: {"type": "safetensors", "path": BLOB, "tensor_key": name}
            for name in ("ids", "keep")
        },
        **sources,
    }
    return {
        "definition": "gather",
        "workload": {"uuid": "w1", "axes": {"N": 5, "K": 3}, "inputs": inputs},
    }


def safetensors(**tensors: tuple[str, list[int], bytes]) -> bytes:
    """A file of these tensors: type, shape and bytes of each."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        ends = [len(data), len(data) + len(content)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": ends}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def lay_given(folder: Path, blob: bytes | None = None, **sources: Any) -> Path:
    """`GATHER` with one workload and its file. `blob` None: as it should be."""
    ids = ("I32", [3], struct.pack("<3i", *IDS))
    right = safetensors(ids=ids, keep=("BOOL", [3], bytes(KEEP)))
    lay_flashinfer(folder, GATHER, [given_record(**sources)])
    file = folder / BLOB
    file.parent.mkdir(parents=True)
    file.write_bytes(right if blob is None else blob)
    return folder
