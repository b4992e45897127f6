from dataclasses import replace

import pytest

from kernelbot.preflight.gpus import find_gpu
from kernelbot.preflight.model import Figures, Preflight, PreflightOutcome, PreflightReport
from kernelbot.preflight.reading import is_lasting, read_report
from kernelbot.preflight.rendering import preflight_text
from kernelbot.protocol import (
    CompileReport,
    Failure,
    Fault,
    HarnessKind,
    Lang,
    Mode,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
)
from tests.harness.jobs import a_job
from tests.support.preflights import PREFLIGHT

H100 = find_gpu("H100")
DIGITS = 15
ROW = {"name": "k", "arch": "90", "registers": "40", "spill_store_bytes": "8",
       "spill_load_bytes": "16", "stack_bytes": "8", "shared_bytes": "1024"}  # fmt: skip
TRITON = {**ROW, "threads": "128", "stages": "3"}
SYNTAX = 'When it was imported:\n  File "submission.py", line 1\nSyntaxError: bad'
IMPORT = 'When it was imported:\nTraceback\n  File "submission.py", line 1\nImportError: no cutlass'


def result(
    rows: tuple[dict[str, str], ...] = (),
    output: str = "",
    verdict: Verdict = Verdict.ACCEPTED,
    failure: Failure | None = None,
) -> RunResult:
    return RunResult(
        job_id="1",
        problem="p",
        mode=Mode.TEST,
        harness=HarnessKind.NATIVE,
        verdict=verdict,
        system=SystemInfo("H100", "", "", "", None),
        sandbox=SandboxReport("required", (), ()),
        failure=failure,
        compile=CompileReport("import", output, 1.5, cached=False, kernels=rows),
    )


def read(found: RunResult, source: str = "import triton\n") -> PreflightReport:
    return read_report(H100, a_job(source), found, "mine.py")


def test_figures_are_read_and_alike_kernels_counted() -> None:
    report = read(result((TRITON, TRITON, {**TRITON, "registers": "64"})))
    assert (PreflightOutcome.COMPILED, [(40, 24, 2, 128), (64, 24, 1, 128)]) == (
        report.outcome,
        [
            (
                kernel.figures.registers,
                kernel.figures.spill_bytes,
                kernel.times,
                kernel.occupancy.threads if kernel.occupancy else None,
            )
            for kernel in report.kernels
        ],
    )


@pytest.mark.parametrize("value", ["", "-1", "1e9", "x", "\u0663"])
def test_a_figure_that_is_no_number_is_left_out_or_read(value: str) -> None:
    (kernel,) = read(result(({"name": "k", "registers": value},))).kernels
    assert kernel.figures.registers in (None, 3)


@pytest.mark.parametrize(
    ("row", "spill_bytes"),
    [
        ({}, None),
        ({"spill_load_bytes": "16"}, 16),
        ({"spill_store_bytes": "8"}, 8),
        ({"spill_store_bytes": "8", "spill_load_bytes": "16"}, 24),
    ],
)
def test_what_is_spilled_is_stored_and_loaded(row: dict[str, str], spill_bytes: int | None) -> None:
    (kernel,) = read(result(({"name": "k", **row},))).kernels
    assert spill_bytes == kernel.figures.spill_bytes


@pytest.mark.parametrize("digits", [DIGITS, DIGITS + 1])
def test_a_figure_has_so_many_digits_at_most(digits: int) -> None:
    value = "9" * digits
    (kernel,) = read(result(({"name": "k", "registers": value},))).kernels
    assert (int(value) if digits == DIGITS else None) == kernel.figures.registers


def test_it_took_as_long_as_compiling_did_or_else_all_of_it() -> None:
    whole = replace(result((TRITON,)), duration_s=7.0)
    found = [read(one).duration_s for one in (whole, replace(whole, compile=None))]
    assert [1.5, 7.0] == found


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("When it was imported:\n", ("When it was imported:",)),
        ("Called:\nboom\n\n", ("Called: boom",)),
        (
            (
                "Called:\nTraceback (most recent call last):\nImportError: a\n"
                "When it was imported:\nCalled it\nValueError: b"
            ),
            ("Called: ImportError: a", "When it was imported: ValueError: b"),
        ),
    ],
)
def test_of_each_failure_its_end_is_told(output: str, said: tuple[str, ...]) -> None:
    assert said == read(result(output=output)).not_compiled


def test_what_failed_for_another_reason_was_not_compiled_here() -> None:
    report = read(result(output=IMPORT))
    assert (PreflightOutcome.UNKNOWN, ("When it was imported: ImportError: no cutlass",)) == (
        report.outcome,
        report.not_compiled,
    )


def test_an_error_with_a_place_is_the_authors() -> None:
    report = read(result(output=SYNTAX))
    assert (PreflightOutcome.REFUSED, [("mine.py", 1)], ()) == (
        report.outcome,
        [(one.file, one.line) for one in report.diagnostics],
        report.not_compiled,
    )


def test_a_limit_is_the_authors_as_well() -> None:
    late = Failure(Fault.AUTHOR, "The compiler was not done after 3 s.")
    report = read(result(verdict=Verdict.TIME_LIMIT, failure=late))
    assert (PreflightOutcome.REFUSED, (late.message,)) == (report.outcome, report.not_compiled)


def test_a_failure_of_ours_is_neither_the_authors_nor_cached() -> None:
    ours = Failure(Fault.PLATFORM, "nvcc is not installed.")
    found = result(verdict=Verdict.INTERNAL_ERROR, failure=ours)
    assert (PreflightOutcome.UNKNOWN, (ours.message,), False) == (
        read(found).outcome,
        read(found).not_compiled,
        is_lasting(read(found), found),
    )


OLD_NVCC = "nvcc fatal   : Unsupported gpu architecture 'compute_100a'"
CRASHED = "nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)"


OLD_PTXAS = "ptxas fatal   : Value 'sm_100a' is not defined for option 'gpu-name'"
TRITON_SAYS = f"""Called with size: 16:
Traceback (most recent call last):
  File "submission.py", line 9, in custom_kernel
    k[(1,)](a)
triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error
`ptxas` stderr:
{OLD_PTXAS}

Repro command: /ptxas -lineinfo -v --gpu-name=sm_100a /tmp/a.ptx -o /tmp/a.ptx.o
"""


def test_a_ptxas_that_does_not_know_the_gpu_is_not_the_authors_fault() -> None:
    report = read(result(output=TRITON_SAYS * 2))
    why = f"The ptxas that is installed is too old for H100. It says: {OLD_PTXAS}"
    assert (PreflightOutcome.UNKNOWN, (), (why,)) == (
        report.outcome,
        report.diagnostics,
        report.not_compiled,
    )


def test_another_failure_of_ptxas_is_the_authors() -> None:
    said = TRITON_SAYS.replace(OLD_PTXAS, "ptxas /tmp/a.ptx, line 19; error   : Unknown symbol 'x'")
    assert PreflightOutcome.REFUSED == read(result(output=said)).outcome


def test_an_error_of_the_file_counts_beside_an_unknown_gpu() -> None:
    report = read(result(output=f"{TRITON_SAYS}{SYNTAX}\n"))
    assert (PreflightOutcome.REFUSED, ["SyntaxError: bad"]) == (
        report.outcome,
        [one.message for one in report.diagnostics],
    )


@pytest.mark.parametrize("said", [OLD_NVCC, CRASHED, OLD_PTXAS])
def test_a_compiler_that_fails_itself_is_not_the_authors_fault(said: str) -> None:
    failure = Failure(Fault.AUTHOR, said)
    report = read(result(output=said + "\n", verdict=Verdict.COMPILE_ERROR, failure=failure))
    assert (PreflightOutcome.UNKNOWN, (said,)) == (report.outcome, report.not_compiled)


def test_an_error_in_the_file_is_the_authors_also_if_nvcc_fails_afterwards() -> None:
    output = f'mine.cu(3): error: identifier "foo" is undefined\n{CRASHED}\n'
    failure = Failure(Fault.AUTHOR, CRASHED)
    report = read(result(output=output, verdict=Verdict.COMPILE_ERROR, failure=failure))
    assert PreflightOutcome.REFUSED is report.outcome


@pytest.mark.parametrize(
    ("found", "lasting"),
    [
        (result((ROW,)), True),
        (result(output=SYNTAX), True),
        (result(output=IMPORT), False),
        (result((ROW,), output=IMPORT), False),
        (result(verdict=Verdict.TIME_LIMIT, failure=Failure(Fault.AUTHOR, "Late.")), False),
        (result(verdict=Verdict.MEMORY_LIMIT, failure=Failure(Fault.AUTHOR, "Much.")), False),
    ],
)
def test_only_what_would_be_said_again_is_kept(found: RunResult, lasting: bool) -> None:
    assert lasting == is_lasting(read(found), found)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import torch\n", "compiles nothing without a GPU"),
        ("import triton\n", "no call reached"),
        ("import triton, torch\ntorch.compile(f)\n", "makes code for the device that it finds"),
    ],
)
def test_a_file_without_kernels_says_why(source: str, words: str) -> None:
    report = read(result(), source)
    assert (PreflightOutcome.UNKNOWN, True) == (report.outcome, words in report.not_compiled[0])


def test_a_spill_that_has_come_stands_beside_what_was() -> None:
    clean = {**TRITON, "spill_store_bytes": "0", "spill_load_bytes": "0"}
    text = preflight_text(Preflight(read(result((TRITON,))), read(result((clean,)))))
    assert (True, True) == ("24 (0)" in text, "in brackets: the previous version" in text), text


def test_a_kernel_that_cannot_be_launched_is_named() -> None:
    text = preflight_text(Preflight(read(result(({**TRITON, "shared_bytes": "999999"},)))))
    assert "k can't be launched with 128 threads: one block needs more shared memory" in text


def test_a_narrow_terminal_shows_a_kernels_name_whole_and_no_line_longer_than_itself() -> None:
    wide, narrow = (preflight_text(PREFLIGHT, columns).splitlines() for columns in (100, 70))
    (name,) = {kernel.figures.name for kernel in PREFLIGHT.report.kernels}
    assert ("threads" in wide[2], "threads" in narrow[2]) == (True, False)
    assert (name, True) == (narrow[3].split()[0], "limited by" in narrow[2])
    assert max(map(len, narrow[1:])) <= 70


def test_names_of_authors_move_no_cursor() -> None:
    row = {**TRITON, "name": "\x1b[2J\nk"}
    text = preflight_text(Preflight(read(result((row,), output="\x1b[31m(1): error: \x07x"))))
    assert (False, False) == ("\x1b" in text, "\x07" in text)


def test_several_kernels_of_one_name_are_matched_in_their_order() -> None:
    old = read(result((TRITON, {**TRITON, "registers": "64"})))
    new = read(result(({**TRITON, "registers": "41"}, {**TRITON, "registers": "65"})))
    found = [Preflight(new, old).earlier(kernel) for kernel in new.kernels]
    assert [40, 64] == [one.registers if one else None for one in found]
    assert Figures("k").registers is None


def test_a_cuda_problem_has_the_block_that_was_asked_for() -> None:
    job = a_job("")
    assert job.problem.lang is Lang.PY
    report = read_report(H100, job, result((ROW,)), "mine.cu", threads=512)
    (kernel,) = report.kernels
    assert kernel.occupancy is not None
    assert 512 == kernel.occupancy.threads


def test_a_kernel_that_was_not_launched_has_no_occupancy() -> None:
    row = {"name": "k", "registers": "40", "stack_bytes": "0", "threads": "0"}
    (kernel,) = read(result((row,)), "import cutlass\n").kernels
    assert (None, None, None) == (
        kernel.occupancy,
        kernel.figures.threads,
        kernel.figures.shared_bytes,
    )


def test_what_a_sentence_has_said_is_not_printed_again() -> None:
    said = "Called with size: 1:\nCompiling was not done after 50 s."
    text = preflight_text(Preflight(read(result(output=said))))
    assert 1 == text.count("was not done")
    more = f"{said}\nfirst\nlast"
    assert "\n      first\n" in preflight_text(Preflight(read(result(output=more))))


def test_of_what_a_compiler_said_64_kib_are_kept() -> None:
    assert 64 * 1024 == len(read(result(output="x" * 100_000)).output)


@pytest.mark.parametrize("header", ["cublas_v2.h", "cusparse.h", "cutlass/gemm/device/gemm.h"])
def test_a_librarys_header_that_is_not_here_is_nobodys_fault(header: str) -> None:
    said = f"k.cu:1:10: fatal error: {header}: No such file or directory\n"
    report = read(result(output=f"When it was imported:\n{said}"), "load_inline()\n")
    (why,) = report.not_compiled
    assert (PreflightOutcome.UNKNOWN, (), header) == (
        report.outcome,
        report.diagnostics,
        why.partition(" isn't here. A machine with the GPU may have it; ")[0],
    )


def test_beside_another_error_it_is_the_authors() -> None:
    missing = "k.cu:1:10: fatal error: cusparse.h: No such file or directory"
    said = f"k.cu(2): error: expected a ';'\n{missing}"
    report = read(result(output=said), "load_inline()\n")
    assert (PreflightOutcome.REFUSED, ["expected a ';'"], ()) == (
        report.outcome,
        [one.message for one in report.diagnostics],
        report.not_compiled,
    )


def test_a_header_of_the_authors_own_is_missing() -> None:
    said = "k.cu:1:10: fatal error: my_tools.h: No such file or directory\n"
    assert PreflightOutcome.REFUSED == read(result(output=said), "load_inline()\n").outcome
