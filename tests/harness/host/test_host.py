import dataclasses
import math
import os
import sys
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from scripts.processes import Process, family, survivors

from kernelbot.harness.data.channel import Channel
from kernelbot.harness.host.cancellation import Cancellation, Cancelled
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.pool import PoolKey, building_key_of, flavour_of, key_of
from kernelbot.harness.judge.host_messages import JudgeEvent
from kernelbot.harness.sandbox import cgroups
from kernelbot.harness.words.sandbox import Flavour
from kernelbot.protocol import (
    DeviceSpec,
    EventKind,
    HarnessKind,
    Lang,
    Mode,
    ProgressEvent,
    SandboxMode,
    Timeouts,
    Vendor,
    Verdict,
)
from kernelbot.protocol.process_names import ProcessName
from kernelbot.store.postmaster import alive
from tests.harness.jobs import SORT, a_job, a_problem
from tests.support.exhaustive import few

LONG_SORT = SORT.replace("    return", "    import time; time.sleep(0.5)\n    return")
"""So long that its judge's control groups are seen while it runs."""
RECEIVE = Channel.receive
PATIENT = a_problem(timeouts=Timeouts(test_s=60, benchmark_s=60, ranked_s=60))


def _descendants(others: Collection[Process] = ()) -> set[Process]:
    """Of this process, but for `others` and whatever they start: another test's host may get its
    next judge ready at any time."""
    found = {one for one in family(os.getpid(), "NO_SUCH_MARKER=1") if one.pid != os.getpid()}
    theirs = {one.pid for one in others}
    while more := {one.pid for one in found if one.parent in theirs} - theirs:
        theirs |= more
    return {one for one in found if one.pid not in theirs}


def test_a_host_that_closes_while_its_zygotes_import_ends_them_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = _descendants()
    host = Host()
    host.warm(PoolKey(Flavour.TORCH, Vendor.CPU, SandboxMode.REQUIRED))
    time.sleep(0.2)  # so that the sandbox has its own processes by now
    started = _descendants(before)
    host.close()
    assert 2 <= len(started)
    deadline = time.monotonic() + 60
    while survivors(started) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [] == survivors(started)
    assert "" == capfd.readouterr().err


@pytest.mark.parametrize(("emit", "told"), [(None, set()), (lambda _event: None, {JudgeEvent})])
def test_a_judge_tells_only_what_somebody_hears(
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
    emit: Callable[[ProgressEvent], None] | None,
    told: set[type],
) -> None:
    heard = set[type]()

    def receive(channel: Channel, *given: Any) -> Any:
        message, fds = RECEIVE(channel, *given)
        heard.add(type(message))
        return message, fds

    monkeypatch.setattr(Channel, "receive", receive)
    assert Verdict.ACCEPTED == host.attempt(a_job(SORT), emit).verdict
    assert told == heard & {JudgeEvent}


def test_a_job_that_nobody_wants_does_not_wait_until_its_zygotes_have_loaded() -> None:
    """A run that is wanted may wait for its place."""
    host, cancelled, job = Host(), Cancellation(), a_job(SORT)
    cancelled.set()
    try:
        with pytest.raises(Cancelled):
            host.judge(job, lambda _: None, cancelled)
        assert False is host.warm(key_of(job)).is_ready
    finally:
        host.close()


@pytest.mark.exhaustive
def test_of_the_zygotes_that_only_build_few_stay() -> None:
    """Strangers name frameworks and architectures, and each has zygotes of its own."""
    arches = ("75", "80", "86", "89", "90a", "100a")
    keys = [
        PoolKey(Flavour.BARE, Vendor.NVIDIA, SandboxMode.REQUIRED, arch, builds=True)
        for arch in arches
    ]
    host, before = Host(), _descendants()
    try:
        with host._using(keys[0]) as busy:
            for key in (*keys, keys[0]):
                with host._using(key) as pool:
                    pool.wait_ready(Cancellation())
            judges = [one for one in _descendants(before) if one.name == ProcessName.JUDGES]
            # A judge that was just forked has its zygote's name for a moment.
            zygotes = [one for one in judges if one.parent == os.getpid()]
            found = (len(zygotes), busy is host.warm(keys[0]), busy.is_ready)
        assert (4, True, True) == found
    finally:
        host.close()


def _groups(others: set[Process]) -> set[Path]:
    """Control groups of judges below this process, but for those of `others`, and of their
    runners. A process that only tries whether it may make any is no judge."""
    ours = {one.pid for one in _descendants(others)}
    parents = set(cgroups.detect().parents.values())
    found = (group for parent in parents for group in parent.glob("kernelbot-*"))
    lasting = (group for group in found if not group.name.endswith("-probe"))
    return {group for group in lasting if _judge_of(group) in ours}


def _judge_of(group: Path) -> int:
    return int(group.name.split("-")[1])


# Each run has test_a_job_that_nobody_wants_does_not_wait_until_its_zygotes_have_loaded
@pytest.mark.exhaustive
@pytest.mark.skipif(not cgroups.detect().parents, reason="no writable cgroup here")
def test_no_group_outlives_its_judge_for_long() -> None:
    seen: set[Path] = set()
    others = _descendants()
    host = Host()
    try:
        job = a_job(LONG_SORT, problem=PATIENT)
        verdict = host.judge(job, lambda _event: seen.update(_groups(others))).verdict
        deadline = time.monotonic() + 60
        while len(judges := {_judge_of(group) for group in seen}) < 2:
            assert time.monotonic() < deadline
            seen |= _groups(others)  # until there is a judge that waits for the next job
            time.sleep(0.02)
        before_the_end = _owners_once(seen, 1)
    finally:
        host.close()
    assert (Verdict.ACCEPTED, 2) == (verdict, len(judges))
    assert (1, 0) == (before_the_end, _owners_once(seen, 0))


@pytest.mark.exhaustive  # each run has test_a_judge_tells_only_what_somebody_hears
@pytest.mark.skipif("memory" not in cgroups.detect().parents, reason="no writable memory cgroup")
def test_groups_of_judges_go_while_there_always_is_work(tmp_path: Path) -> None:
    """Else a queue that is never empty would use up the kernel's numbers for them."""
    others, seen, may_end = _descendants(), set[Path](), tmp_path / "may end"
    waits = f"import pathlib, time\n    while not pathlib.Path({str(may_end)!r}).exists(): time"
    endless = SORT.replace("    return", f"    {waits}.sleep(0.02)\n    return")
    host = Host(slots=2)
    patient, cancelled = a_problem(timeouts=Timeouts(test_s=600)), Cancellation()
    with ThreadPoolExecutor(1) as threads:
        at_work = threads.submit(host.judge, a_job(endless, problem=patient), print, cancelled)
        try:
            job = a_job(LONG_SORT, problem=PATIENT)
            for _ in range(3):
                host.judge(job, lambda _: seen.update(_groups(others)))
            judges = {_judge_of(group) for group in seen if group.name.endswith("-judge")}
            deadline = time.monotonic() + 60
            while len(ended := {pid for pid in judges if not alive(pid)}) < 3:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            left = _owners_once({group for group in seen if _judge_of(group) in ended}, 0)
            found = (left, at_work.done())
        finally:
            cancelled.set()
    host.close()
    assert (0, False) == found


def _owners_once(groups: set[Path], expected: int) -> int:
    """How many have groups that are still there, once they are no more than expected."""
    deadline = time.monotonic() + 60
    while True:
        owners = {_judge_of(group) for group in groups if group.exists()}
        if len(owners) <= expected or time.monotonic() > deadline:
            return len(owners)
        time.sleep(0.02)


# Each run has test_which_child_is_taken_is_left_to_chance (test_prefork.py).
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("mode", "is_alone", "expected"),
    few(
        [
            (Mode.TEST, False, (2, 4)),
            (Mode.TEST, True, (1, 2)),
            (Mode.BENCHMARK, False, (1,)),  # it has more runners of its own
        ],
        1,
    ),
)
def test_the_next_job_gets_ready_beside_tests_in_a_sequence_but_not_beside_what_is_timed(
    mode: Mode, is_alone: bool, expected: tuple[int, ...]
) -> None:
    """Counted are judges and inits: those at work, and the next job's."""
    source = LONG_SORT.replace("0.5", "5") if is_alone else LONG_SORT  # so it doesn't end meanwhile
    job = a_job(source, mode=mode, problem=PATIENT)
    others = _descendants()
    seen: list[tuple[int, int]] = []
    patience_s = 60.0 if expected == (2, 4) else 1.0  # so long it is seen that none is made

    def look(event: ProgressEvent) -> None:
        if event.kind is EventKind.CASE and not seen:
            deadline = time.monotonic() + patience_s
            while (found := _made(_descendants(others))) != (2, 4) and time.monotonic() < deadline:
                time.sleep(0.02)
            seen.append(found)

    host = Host()
    if not is_alone:
        host.warm(key_of(job)).ended_at_s = math.inf  # as if another job ended at this moment
    try:
        host.judge(job, look)
    finally:
        host.close()
    assert expected == seen[0][: len(expected)]


def _made(processes: set[Process]) -> tuple[int, int]:
    """How many judges and inits there are."""
    names = [one.name for one in processes]
    return names.count(ProcessName.JUDGE), names.count(ProcessName.INIT)


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


def test_cute_is_loaded_beside_torch() -> None:
    """Which no other file may mention."""
    job = a_job("import cutlass.cute")
    problem = dataclasses.replace(job.problem, files=())
    assert Flavour.TORCH == flavour_of(dataclasses.replace(job, problem=problem))


@pytest.mark.parametrize(("lang", "expected"), [(Lang.PY, Flavour.NUMPY), (Lang.CU, Flavour.BARE)])
def test_a_compiler_needs_nothing_loaded_ahead(lang: Lang, expected: Flavour) -> None:
    """Whatever the problem's own files are written with."""
    job = a_job(SORT)
    problem = dataclasses.replace(job.problem, lang=lang)
    built = dataclasses.replace(job, problem=problem, build_only=True)
    assert (expected, Flavour.NUMPY) == (building_key_of(built).flavour, key_of(built).flavour)


@pytest.mark.parametrize(
    ("source", "report_only", "expected"),
    [
        ("from torch.utils.cpp_extension import load_inline", True, True),
        ("from torch.utils.cpp_extension import load_inline", False, False),
        ("import triton", True, False),
    ],
)
def test_extensions_of_which_a_report_is_made_are_built_apart(
    source: str, report_only: bool, expected: bool
) -> None:
    device = DeviceSpec("H100", Vendor.NVIDIA, "90a")
    job = dataclasses.replace(a_job(source), device=device)
    built = dataclasses.replace(job, build_only=True, report_only=report_only)
    assert (True, expected) == (building_key_of(built).builds, building_key_of(built).reports)


def test_a_script_needs_nothing_loaded_ahead() -> None:
    job = a_job("# faster than torch\n" + SORT)
    script = dataclasses.replace(job.problem, harness=HarnessKind.SCRIPT)
    assert Flavour.BARE == flavour_of(dataclasses.replace(job, problem=script))
