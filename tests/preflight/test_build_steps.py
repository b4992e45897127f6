"""A node may say what it likes."""

import time
from dataclasses import replace

import pytest

from kernelbot.preflight.build_steps import (
    MAX_NAME,
    MOST_DIAGNOSTICS,
    MOST_KERNELS,
    MOST_SENTENCES,
    report_of_build_step,
)
from kernelbot.preflight.model import Preflight, PreflightOutcome, PreflightReport
from kernelbot.preflight.rendering import preflight_text, short_text
from kernelbot.protocol import DeviceSpec, Failure, Fault, JobSpec, RunResult, Vendor, Verdict
from tests.harness.jobs import a_job
from tests.preflight.test_reading import ROW, TRITON, result

H100 = DeviceSpec("H100-of-ours", Vendor.NVIDIA, "90a")
FIGURES = ("registers", "spill_store_bytes", "stack_bytes", "shared_bytes", "threads", "stages")
LARGEST_S = 5.0


def job(device: DeviceSpec = H100, source: str = "import triton\n") -> JobSpec:
    return replace(a_job(source), device=device)


def told(found: RunResult, source: str = "import triton\n") -> PreflightReport:
    report = report_of_build_step(job(source=source), found)
    assert report is not None
    return report


def test_a_report_has_the_devices_own_name_and_its_chips_occupancy() -> None:
    report = told(result((TRITON,)))
    (kernel,) = report.kernels
    assert ("H100-of-ours", "90a", PreflightOutcome.COMPILED) == (
        report.gpu,
        report.arch,
        report.outcome,
    )
    assert kernel.occupancy is not None
    assert (40, 24, 128) == (
        kernel.figures.registers,
        kernel.figures.spill_bytes,
        kernel.occupancy.threads,
    )


@pytest.mark.parametrize("arch", ["90", "120", None])
def test_an_architecture_without_limits_has_figures_all_the_same(arch: str | None) -> None:
    device = DeviceSpec("X", Vendor.NVIDIA, arch)
    report = report_of_build_step(job(device), result((TRITON,)))
    assert report is not None
    (kernel,) = report.kernels
    assert (40, arch == "90") == (kernel.figures.registers, kernel.occupancy is not None)


def test_a_processor_has_no_report() -> None:
    device = DeviceSpec("CPU", Vendor.CPU)
    assert report_of_build_step(job(device), result((TRITON,))) is None


def test_a_step_that_failed_through_our_fault_has_none() -> None:
    failure = Failure(Fault.PLATFORM, "nvcc is not installed.")
    found = result(verdict=Verdict.INTERNAL_ERROR, failure=failure)
    assert report_of_build_step(job(), found) is None


@pytest.mark.parametrize(
    "value", ["9" * 15, "1000000000000", "1e3", "-1", "NaN", "", " 1", "\u0663", "9" * 5000]
)
@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_that_no_gpu_can_have_was_not_said(figure: str, value: str) -> None:
    (kernel,) = told(result(({**TRITON, figure: value},))).kernels
    names = {
        "registers": kernel.figures.registers,
        "spill_store_bytes": kernel.figures.spill_bytes,
        "stack_bytes": kernel.figures.stack_bytes,
        "shared_bytes": kernel.figures.shared_bytes,
        "threads": kernel.figures.threads,
        "stages": kernel.figures.stages,
    }
    expected = {"spill_store_bytes": 16, "shared_bytes": 0}.get(figure)
    assert expected == names[figure]


def test_a_thousand_million_registers_were_not_said() -> None:
    (kernel,) = told(result(({**ROW, "registers": "1000000000"},))).kernels
    assert (None, None) == (kernel.figures.registers, kernel.occupancy)


def test_names_are_short_and_printable() -> None:
    names = ("\x1b[2J\nk", "\u202ek", "k" * 100_000, "\x00" * MAX_NAME)
    report = told(result(tuple({**ROW, "name": name} for name in names)))
    found = [kernel.figures.name for kernel in report.kernels]
    assert [(True, True)] * len(names) == [
        (name.isprintable(), len(name) <= MAX_NAME) for name in found
    ]


def test_more_kernels_than_there_is_room_for_are_counted() -> None:
    rows = tuple({**ROW, "name": f"k{number}"} for number in range(MOST_KERNELS + 7))
    report = told(result(rows))
    assert (MOST_KERNELS, 7) == (len(report.kernels), report.left_out)
    assert "... and 7 kernels more" in preflight_text(Preflight(report))


def test_what_is_said_is_cut_and_printable() -> None:
    errors = "".join(f"\x1b[31mk.cu({line}): error: \x07bad{line}\n" for line in range(1, 1000))
    report = told(result(output=errors))
    texts = [text for one in report.diagnostics for text in (one.file, one.message)]
    assert (MOST_DIAGNOSTICS, True) == (
        len(report.diagnostics),
        all(text.isprintable() for text in texts),
    )


def test_reasons_are_few_and_short() -> None:
    said = "".join(f"Called with size: {size}:\nValueError: {'x' * 1100}\n" for size in range(150))
    report = told(result(output=said))
    assert [1000] * MOST_SENTENCES == [len(why) for why in report.not_compiled]


@pytest.mark.parametrize(
    ("figure", "most"), [("registers", 1024), ("threads", 4096), ("stack_bytes", 1 << 30)]
)
def test_the_largest_figures_that_are_believed(figure: str, most: int) -> None:
    rows = tuple({**TRITON, figure: str(value)} for value in (most, most + 1))
    found = [vars(kernel.figures)[figure] for kernel in told(result(rows)).kernels]
    assert [most, None] == found


@pytest.mark.parametrize(
    ("duration_s", "expected_s"), [(-1.0, 0.0), (0.5, 0.5), (86_401.0, 86_400.0), (1e300, 86_400.0)]
)
def test_a_duration_is_one(duration_s: float, expected_s: float) -> None:
    found = result((TRITON,))
    assert found.compile is not None
    found = replace(found, compile=replace(found.compile, duration_s=duration_s))
    assert expected_s == told(found).duration_s


@pytest.mark.parametrize(
    "said",
    [
        "CompilationError: at 1:1:\n" * 100_000,
        "CompilationError: at 1:1:\n" + "\n" * 1_000_000,
        "a" * 5_000_000,
        "k.cu(1): error: x\n" * 200_000,
        "." * 1999 + "SyntaxError\n",
        'File "x", line 1\n' * 100_000,
    ],
)
def test_no_output_takes_long_to_read(said: str) -> None:
    source = "\n".join(["", *(f"line {number}" for number in range(50_000))])
    began_s = time.process_time()
    told(result(output=said), source=source)
    assert time.process_time() - began_s < LARGEST_S


def test_a_report_has_room_for_so_much() -> None:
    assert (200, 50, 20, 300) == (MOST_KERNELS, MOST_DIAGNOSTICS, MOST_SENTENCES, MAX_NAME)


def test_what_a_report_says_of_itself_is_short() -> None:
    row = {**ROW, "stack_bytes": "65536"}
    rows = tuple({**row, "name": f"{'k' * 280}{number}"} for number in range(300))
    output = "".join(f"k.cu({line}): error: {'x' * 400}\n" for line in range(1, 60))
    text = short_text(Preflight(told(result(rows, output=output))))
    assert len(text) <= 1200
    assert "k.cu:1: error: x" in text
