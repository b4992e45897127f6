"""Build steps of files that use CuTe DSL; it and its compiler are real."""

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.preflight.diagnostics import read_diagnostics
from kernelbot.protocol import ProgressEvent, RunResult, Verdict
from tests.support.cute_problems import ADDED, CUTE, cute_step, needs_cute

pytestmark = [pytest.mark.torch, needs_cute]


def quiet(_event: ProgressEvent) -> None:
    """Nobody asks what has happened."""


def output_of(result: RunResult) -> str:
    return result.compile.output if result.compile else ""


def test_a_build_step_tells_what_kernels_need(host: Host) -> None:
    result = host.attempt(cute_step(CUTE), quiet)
    assert result.compile is not None
    (kernel,) = result.compile.kernels
    expected = {"name": "double", "threads": "128", "shared_bytes": "512", "stack_bytes": "0"}
    assert expected == {key: kernel[key] for key in expected}
    assert 0 < int(kernel["registers"]) < 64


@pytest.mark.parametrize(
    ("wrong", "column"), [('x[thread] + "x"', 24), ("missing(x)", None)], ids=["type", "name"]
)
def test_what_cute_refuses_is_told_with_its_line(
    host: Host, wrong: str, column: int | None
) -> None:
    source = CUTE.replace(ADDED, wrong)
    found = read_diagnostics(output_of(host.attempt(cute_step(source), quiet)), source, "s.py")
    line = next(n for n, text in enumerate(source.splitlines(), 1) if wrong in text)
    assert [("submission.py", line, column)] == [(one.file, one.line, one.column) for one in found]


def test_what_needs_a_gpu_is_nobodys_error(host: Host) -> None:
    """And the kernel that was compiled before is told all the same."""
    call = "import cuda.bindings.driver as d; d.cuInit(0); raise OSError('a\\'; echo x')"
    source = CUTE.replace("    return out", f"    {call}")
    result = host.attempt(cute_step(source), quiet)
    assert () == read_diagnostics(output_of(result), source, "submission.py")
    assert result.compile is not None
    assert ["double"] == [one["name"] for one in result.compile.kernels]


@pytest.mark.exhaustive
def test_a_kernel_with_a_name_of_ten_thousand_letters_is_compiled(host: Host) -> None:
    result = host.attempt(cute_step(CUTE.replace("double", "k" * 10_000)), quiet)
    assert result.compile is not None
    assert ["k" * 100] == [one["name"] for one in result.compile.kernels]


@pytest.mark.exhaustive
def test_kernels_without_end_are_ended_by_the_limit(host: Host) -> None:
    """Each is another one, for another number that is known when it is compiled."""
    source = CUTE.replace("size: cutlass.Int32", "size: cutlass.Constexpr")
    loop = "    for size in range(1_000_000):\n        launch(*given, size)\n"
    called = "    cute.compile(launch, *given, data.numel())(*given, data.numel())\n"
    result = host.attempt(cute_step(source.replace(called, loop), compile_s=20), quiet)
    assert Verdict.ACCEPTED == result.verdict
    assert "time limit" in output_of(result)
