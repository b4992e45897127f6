"""What does the form of an output add to its time? Kernels of known time return different forms.

    python -m benchmarks.output_forms [--forms strided ...] [--us 100] [--judgements N]

The outputs are made when the kernel is loaded, so all that the forms differ by is what becomes of
them after the call. See `benchmarks.accuracy` for how the truth is known.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.accuracy import WAYS, Reading, Way, job, readings
from kernelbot.harness.host.host import Host
from kernelbot.protocol import JobSpec, ProgressEvent, SourceFile
from kernelbot.render.table import table
from kernelbot.render.units import time_text

_OUTPUTS = 64
"""More than a window has calls, so each of them has one of its own."""
_SHARED = """
from dataclasses import dataclass
from typing import Any, NamedTuple
{imports}

@dataclass
class Fields:
    first: Any
    second: Any

class Named(NamedTuple):
    first: Any
    second: Any

def array(*shape):
    return {array}

def make():
    return {form}
"""
_REFERENCE = """
import {framework}
from task import make
def generate_input(ns, seed):
    return {tensor}([ns]), {tensor}([seed])
def ref_kernel(data):
    return make()
def check_implementation(data, output):
    return True, ""
"""
_NUMPY = {
    "contiguous": "array(10000)",
    "33 arrays": "tuple(array(303) for _ in range(33))",
    "strided": "array(20000)[::2]",
    "columns of a matrix": "array(100, 1000)[:, 200:300]",
    "reversed": "array(10000)[::-1]",
    "transposed": "array(100, 100).T",
    "dict": "{'first': array(10000), 'second': [array(3), 7]}",
    "dataclass": "Fields(array(10000), array(3))",
    "named tuple": "Named(array(10000), array(3))",
    "float": "float(array(1)[0]) + 0.5",
}
_TORCH = {
    "contiguous": "array(10000)",
    "from the third number on": "array(10002)[2:]",
    "strided": "array(20000)[::2]",
    "transposed": "array(100, 100).T",
}
_RETURNED = "return data[1]"
_SOONER = "count >= 16", "count >= 2"
"""Windows of outputs that must be described have one call."""
_MADE = f"""
import itertools
from task import make
outputs = itertools.cycle([make() for _ in range({_OUTPUTS})])
"""


@dataclass(frozen=True)
class Row:
    """A form of output, and what was read of the kernel that returns it."""

    form: str
    reading: Reading


def form_job(way: Way, form: str, us: float) -> JobSpec:
    """A ranked run of a kernel that spins, and returns an output of this form."""
    asked = job(way, [us])
    framework = way.framework
    array = f"{framework}.ones(shape)"
    shared = _SHARED.format(imports=f"import {framework}", array=array, form=form)
    tensor = "numpy.array" if framework == "numpy" else "torch.tensor"
    files = (
        SourceFile("reference.py", _REFERENCE.format(framework=framework, tensor=tensor)),
        SourceFile("task.py", shared),
    )
    source = way.source.replace(_RETURNED, "return next(outputs)").replace(*_SOONER)
    submission = SourceFile(asked.submission.name, _MADE + source)
    return replace(asked, problem=replace(asked.problem, files=files), submission=submission)


def forms_table(rows: Sequence[Row]) -> str:
    """A line for each form; what it adds is compared with the contiguous array's."""
    usual = {
        row.reading.way.name: row.reading.error_ns
        for row in reversed(rows)
        if row.form == "contiguous"
    }
    headers = ("kernel", "output", "truth", "read", "too long by", "the form adds", "interval +-")
    lines = []
    for row in rows:
        reading = row.reading
        added_ns = reading.error_ns - usual.get(reading.way.name, 0.0)
        lines.append(
            (
                reading.way.name,
                row.form,
                time_text(reading.truth_ns),
                time_text(reading.read_ns),
                f"{reading.error_ns / 1e3:+.2f} µs",
                f"{added_ns / 1e3:+.2f} µs",
                f"{reading.half_width_ns / 1e3:.2f} µs",
            )
        )
    return table(headers, lines, right=headers[2:])


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--forms", nargs="+", default=[*_NUMPY, *_TORCH])
    parser.add_argument("--us", type=float, default=100)
    parser.add_argument("--judgements", type=int, default=1)
    options = parser.parse_args()
    forms: Mapping[str, Mapping[str, str]] = {"NumPy": _NUMPY, "torch": _TORCH}
    host, rows = Host(), []
    try:
        for way in (way for way in WAYS if way.name in forms):
            for name, form in forms[way.name].items():
                if name not in options.forms:
                    continue
                for _ in range(options.judgements):
                    (one,) = readings(way, host.judge(form_job(way, form, options.us), _ignore))
                    rows.append(Row(name, one))
    finally:
        host.close()
    print(forms_table(rows))


def _ignore(_event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    main()
