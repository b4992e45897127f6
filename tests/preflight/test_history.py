import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.preflight.history import MOST, History
from kernelbot.preflight.model import (
    Bound,
    Diagnostic,
    Figures,
    Kernel,
    Occupancy,
    Preflight,
    PreflightOutcome,
    PreflightReport,
    Severity,
)


def report(registers: int, gpu: str = "H100") -> PreflightReport:
    kernel = Kernel(Figures("k", registers, 0, 0, 0), Occupancy(256, 8, 1.0, Bound.THREADS))
    said = Diagnostic(Severity.WARNING, "unused", "k.cu", 3, 1)
    return PreflightReport(
        gpu, "90a", PreflightOutcome.COMPILED, (kernel,), (said,), ("why",), "words", 1.5
    )


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with closing(History(tmp_path / "mine.cu", tmp_path / "reports")) as made:
        yield made


def test_a_report_is_found_again_whole(history: History) -> None:
    history.keep("a", report(16))
    assert (report(16), None) == (history.cached("a"), history.cached("b"))


def shown(history: History, version: str, registers: int) -> Preflight:
    history.keep(version, report(registers))
    return history.with_previous(version, version, report(registers), cached=False)


def before(preflight: Preflight) -> int | None:
    return preflight.before.kernels[0].figures.registers if preflight.before else None


def test_each_version_stands_beside_the_one_before(history: History) -> None:
    found = [shown(history, *version) for version in (("a", 16), ("b", 32), ("b", 32), ("a", 16))]
    assert [None, 16, 16, 32] == [before(one) for one in found]


def test_versions_that_did_not_compile_are_passed_over(history: History) -> None:
    shown(history, "a", 16)
    refused = replace(report(0), outcome=PreflightOutcome.REFUSED, kernels=())
    for version in ("b", "c"):
        history.keep(version, refused)
        history.with_previous(version, version, refused, cached=False)
    assert 16 == before(shown(history, "d", 32))


def test_another_compiler_makes_no_other_version(history: History) -> None:
    shown(history, "a", 16)
    history.keep("a2", report(20))
    assert history.with_previous("a2", "a", report(20), cached=False).before is None


def test_each_file_and_each_gpu_has_a_history_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "reports"
    with closing(History(tmp_path / "one.cu", place)) as one:
        shown(one, "a", 16)
        other_gpu = one.with_previous("b", "b", report(32, "A100"), cached=False)
    with closing(History(tmp_path / "two.cu", place)) as two:
        other_file = shown(two, "b", 32)
    assert (None, None) == (other_gpu.before, other_file.before)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"version": 99}', b"1" * 9999])
def test_what_cannot_be_read_is_as_if_it_were_not_there(
    tmp_path: Path, history: History, content: bytes
) -> None:
    shown(history, "a", 16)
    for path in (tmp_path / "reports").iterdir():
        path.write_bytes(content)
    assert (None, None) == (history.cached("a"), shown(history, "b", 32).before)


def test_what_was_not_used_for_longest_makes_room(tmp_path: Path, history: History) -> None:
    for number in range(MOST + 20):
        path = tmp_path / "reports" / f"{number}.json"
        path.touch()
        os.utime(path, (number, number))
    history.keep("new", report(1))
    left = {path.stem for path in (tmp_path / "reports").iterdir()}
    assert (MOST, {"new", "519", "21"}) == (len(left), left & {"new", "519", "21", "20", "0"})


def test_a_folder_of_others_is_not_used(tmp_path: Path) -> None:
    place = tmp_path / "reports"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    with pytest.raises(UserError, match="Other accounts can enter"):
        History(tmp_path / "mine.cu", place)
