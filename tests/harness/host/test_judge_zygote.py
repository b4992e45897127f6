"""Who forks judges."""

import os
from pathlib import Path

import pytest
from scripts.processes import family

from kernelbot.harness.host.host import Host
from kernelbot.harness.judge.system import torch_version
from kernelbot.protocol import Verdict
from kernelbot.protocol.process_names import ProcessName
from tests.harness.jobs import SORT, a_job

# Each run has test_who_forks_runners_has_one_thread_and_what_checkers_import (test_preload.py)
pytestmark = pytest.mark.exhaustive


def test_it_has_no_framework_and_one_thread_and_its_judges_still_name_torchs_version(
    host: Host,
) -> None:
    result = host.judge(a_job("# as torch does\n" + SORT), lambda _event: None)
    assert (Verdict.ACCEPTED, torch_version()) == (result.verdict, result.system.torch)
    zygotes = [
        one.pid for one in family(os.getpid(), "no=marker") if one.name == ProcessName.JUDGES
    ]
    assert zygotes
    for pid in zygotes:
        mapped = Path(f"/proc/{pid}/maps").read_text()
        assert not any(f"/{package}/" in mapped for package in ("torch", "numpy"))
        assert 1 == len(list(Path(f"/proc/{pid}/task").iterdir()))
