import dataclasses
import os
import sys
import time

import pytest
from scripts.processes import Process, family, survivors

from kernelbot.harness.host.host import Host, PoolKey, flavour_of
from kernelbot.harness.sandbox import Flavour
from kernelbot.protocol import HarnessKind, SandboxMode, Vendor
from tests.harness.jobs import SORT, a_job


def _descendants() -> set[Process]:
    return {one for one in family(os.getpid(), "NO_SUCH_MARKER=1") if one.pid != os.getpid()}


def test_a_host_that_closes_while_its_zygotes_import_ends_them_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = _descendants()
    host = Host()
    host.warm(PoolKey(Flavour.TORCH, Vendor.CPU, SandboxMode.REQUIRED))
    time.sleep(0.2)  # so that the sandbox has its own processes by now
    started = _descendants() - before
    host.close()
    assert 2 <= len(started)
    deadline = time.monotonic() + 10
    while survivors(started) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [] == survivors(started)
    assert "" == capfd.readouterr().err


@pytest.mark.parametrize(
    ("missing", "expected"),
    [([], Flavour.TORCH), (["torch"], Flavour.NUMPY), (["torch", "numpy"], Flavour.BARE)],
)
def test_what_is_mentioned_but_not_installed_is_not_loaded(
    missing: list[str], expected: Flavour, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    assert expected == flavour_of(a_job("# faster than torch\n" + SORT))


def test_a_script_needs_nothing_loaded_ahead() -> None:
    job = a_job("# faster than torch\n" + SORT)
    script = dataclasses.replace(job.problem, harness=HarnessKind.SCRIPT)
    assert Flavour.BARE == flavour_of(dataclasses.replace(job, problem=script))
