"""Honest files in many authors' styles: none is accused, alone or on a busy machine."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kernelbot.protocol import Failure, RunResult, Verdict
from tests.exploits.judging import Host
from tests.honest.styles import Style, ranked_job, read_styles
from tests.support.exhaustive import cases

STYLES = read_styles()
FEW = (
    "binds_itself.py",
    "buffer_by_shape.py",
    "byte_order_mark.py",
    "helper_that_spins.cpp",
    "idle_event_loop.py",
    "openmp_through_ctypes.py",
    "torch_out.py",
    "windows_file.cpp",
)
"""One of each kind that was refused before."""
FEWEST = ("buffer_by_shape.py",)
"""Those of them that every run of the tests judges: of a worker's processors, and of the memory
that it returns."""
_COMPUTES = "n = 0\nwhile True: n += 1"
_COPIES = "import numpy as np\na = np.ones(1 << 22)\nb = a.copy()\nwhile True: b[:] = a"


@pytest.fixture(scope="module")
def neighbours() -> Iterator[None]:
    """Two processes that use processors and memory without an end."""
    started = [subprocess.Popen([sys.executable, "-c", text]) for text in (_COMPUTES, _COPIES)]
    yield
    for process in started:
        process.kill()
        process.wait()


def by_name(style: Style) -> str:
    return style.path.name


def test_there_are_styles_of_a_hundred_authors() -> None:
    assert len(STYLES) >= 100
    assert len(STYLES) == len({style.style for style in STYLES})


@pytest.mark.parametrize(
    "style",
    cases(
        [style for style in STYLES if style.path.name in FEW],
        always=[style for style in STYLES if style.path.name in FEWEST],
    ),
    ids=by_name,
)
def test_a_few(style: Style, real_host: Host) -> None:
    expect_honest(judged(style, real_host))


@pytest.mark.exhaustive
def test_threads_that_compute_are_counted_and_processors_named(real_host: Host) -> None:
    one, two = (
        judged(style, real_host).system
        for style in STYLES
        if style.path.name in ("helper_that_yields.cpp", "plain.cpp")
    )
    assert (2, 1) == (one.threads, two.threads)
    assert one.processors == two.processors == max(1, len(os.sched_getaffinity(0)) - 1)


@pytest.mark.long
@pytest.mark.parametrize("style", STYLES, ids=by_name)
def test_alone(style: Style, real_host: Host) -> None:
    expect_honest(judged(style, real_host))


@pytest.mark.long
@pytest.mark.usefixtures("neighbours")
@pytest.mark.parametrize("style", STYLES, ids=by_name)
def test_beside_two_busy_neighbours(style: Style, real_host: Host) -> None:
    expect_honest(judged(style, real_host))


def judged(style: Style, host: Host) -> RunResult:
    if style.needs is not None and importlib.util.find_spec(style.needs) is None:
        pytest.skip(f"{style.needs} isn't installed")
    return host.judge_job(ranked_job(style))


def expect_honest(result: RunResult) -> None:
    accepted: tuple[Verdict, Failure | None, tuple[str, ...]] = (Verdict.ACCEPTED, None, ())
    assert accepted == (result.verdict, result.failure, result.suspicions)
