"""Nodes that share a folder of jobs: each takes what is its own, and no job is judged twice."""

import multiprocessing
import os
import shutil
import threading
import time
from dataclasses import replace
from multiprocessing.synchronize import Event
from pathlib import Path, PosixPath
from typing import Any

import pytest

from kernelbot.harness.host.cancellation import Cancellation
from kernelbot.harness.host.shared_jobs import Judge, Offer, SharedJobs
from tests.support.waiting import until

NEEDS = "0123456789abcdef"
LIMIT_S = 100


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("waiting", "jobs", "done", "cancels"):
        (tmp_path / name).mkdir()
    return tmp_path


def offer(root: Path, job: str, needs: str = NEEDS, limit_s: int = LIMIT_S) -> None:
    folder = root / "waiting" / f"{needs}-{limit_s}-{job}"
    folder.mkdir()
    (folder / "jobspec.json").write_text("a secret")


def node(root: Path, name: str = "7", **given: float | str) -> SharedJobs:
    settings: dict[str, float | str] = {"idle_s": 0.0, "limit_s": 1000.0, "ask_left": "", **given}
    return SharedJobs(
        root,
        NEEDS,
        name,
        float(settings["idle_s"]),
        float(settings["limit_s"]),
        str(settings["ask_left"]),
    )


def serve(jobs: SharedJobs) -> list[str]:
    """The jobs that it judged, in their order."""
    judged: list[str] = []

    def judge(folder: Path, _cancelled: Cancellation) -> str:
        judged.append(folder.name)
        return ""

    jobs.serve(judge)
    return judged


class Distant(SharedJobs):
    """Can't look at what is cancelled while there is a file `away`."""

    def _fresh(self, name: str) -> list[Path]:
        if name == "cancels" and (self.root / "away").exists():
            (self.root / "looked").touch()
            raise OSError("Stale file handle")
        return super()._fresh(name)


def test_a_cancellation_is_noticed_after_a_look_that_failed(root: Path) -> None:
    offer(root, "1.1.a")
    noticed: list[bool] = []

    def judge(folder: Path, cancelled: Cancellation) -> str:
        (root / "away").touch()
        while not (root / "looked").exists():
            time.sleep(0.01)
        (root / "cancels" / folder.name).touch()
        (root / "away").unlink()
        woken = threading.Event()
        with cancelled.waking(woken.set):
            noticed.append(cancelled.is_set() or woken.wait(60))
        return "cancelled"

    Distant(root, NEEDS, "7", 0.0, 1000.0).serve(judge)
    assert ([True], {"1.1.a": "cancelled"}) == (noticed, done(root))


def done(root: Path) -> dict[str, str]:
    return {path.name: path.read_text().strip() for path in (root / "done").iterdir()}


def waiting(root: Path) -> list[str]:
    return sorted(path.name.split("-", 2)[2] for path in (root / "waiting").iterdir())


def test_jobs_are_judged_in_the_order_in_which_they_came(root: Path) -> None:
    for number, job in enumerate(("9.1.c", "10.1.a", "2.1.b")):
        offer(root, job)
        os.utime(root / "waiting" / f"{NEEDS}-{LIMIT_S}-{job}", (number, number))
    assert serve(node(root)) == ["9.1.c", "10.1.a", "2.1.b"]
    assert done(root) == {"9.1.c": "0", "10.1.a": "0", "2.1.b": "0"}


def test_it_is_said_which_node_has_a_job_and_the_job_is_gone_in_the_end(root: Path) -> None:
    offer(root, "1.1.a")
    serve(node(root, "4711"))
    assert [path.name for path in (root / "jobs" / "1.1.a").iterdir()] == ["node.4711"]


def test_jobs_of_other_needs_and_drafts_are_left(root: Path) -> None:
    offer(root, "1.1.a", needs="another")
    (root / "waiting" / ".draft.XYZ").mkdir()
    (root / "waiting" / "a'; echo x").mkdir()
    (root / "waiting" / f"{NEEDS}-ten-1.1.b").mkdir()
    assert serve(node(root)) == []
    assert len(list((root / "waiting").iterdir())) == 4


def test_a_job_that_may_last_too_long_is_left_and_the_node_ends(root: Path) -> None:
    offer(root, "1.1.a")
    offer(root, "1.1.b", limit_s=2000)
    assert serve(node(root, idle_s=1e9)) == ["1.1.a"]
    assert waiting(root) == ["1.1.b"]


@pytest.mark.parametrize(("said", "judged"), [("echo 99", []), ("echo 100", ["1.1.a"])])
def test_what_the_scheduler_says_of_the_time_that_is_left_counts(
    root: Path, said: str, judged: list[str]
) -> None:
    offer(root, "1.1.a")
    assert serve(node(root, ask_left=said)) == judged


@pytest.mark.parametrize("said", ["", "echo some", "exit 1", "echo 1; echo 2"])
def test_a_scheduler_that_cant_say_leaves_it_to_the_nodes_own_clock(root: Path, said: str) -> None:
    offer(root, "1.1.a")
    assert serve(node(root, ask_left=said)) == ["1.1.a"]
    offer(root, "1.1.b")
    assert serve(node(root, ask_left=said, limit_s=LIMIT_S - 1.0)) == []


def test_what_was_begun_before_is_not_begun_again(root: Path) -> None:
    offer(root, "1.1.a")
    (root / "jobs" / "1.1.a").mkdir()
    (root / "jobs" / "1.1.a" / "node.6").touch()
    assert (serve(node(root)), waiting(root), done(root)) == ([], [], {})


def test_a_job_without_a_result_says_why(root: Path) -> None:
    offer(root, "1.1.a")
    node(root).serve(lambda _folder, _cancelled: "the judge died")
    assert done(root) == {"1.1.a": "failed"}
    assert (root / "jobs" / "1.1.a" / "log").read_text() == "the judge died\n"


def test_a_job_that_was_cancelled_before_is_not_begun(root: Path) -> None:
    offer(root, "1.1.a")
    (root / "cancels" / "1.1.a").touch()
    assert (serve(node(root)), done(root)) == ([], {"1.1.a": "cancelled"})


def ends_when_cancelled(began: threading.Event) -> Judge:
    def judge(_folder: Path, cancelled: Cancellation) -> str:
        woken = threading.Event()
        with cancelled.waking(woken.set):
            began.set()
            assert woken.wait(60)
        return "cancelled"

    return judge


async def test_a_job_is_cancelled_while_it_is_judged_and_the_node_goes_on(root: Path) -> None:
    offer(root, "1.1.a")
    began = threading.Event()
    thread = threading.Thread(target=node(root).serve, args=(ends_when_cancelled(began),))
    thread.start()
    await until(began.is_set)
    (root / "cancels" / "1.1.a").touch()
    thread.join(60)
    assert done(root) == {"1.1.a": "cancelled"}


async def test_a_job_that_was_forgotten_is_stopped_and_leaves_nothing(root: Path) -> None:
    offer(root, "1.1.a")
    began = threading.Event()
    thread = threading.Thread(target=node(root).serve, args=(ends_when_cancelled(began),))
    thread.start()
    await until(began.is_set)
    (root / "jobs" / "1.1.a").rename(root / "forgotten")
    thread.join(60)
    assert (done(root), list((root / "jobs").iterdir())) == ({}, [])


def _serve_and_count(root: Path, name: str, start: Event) -> None:
    start.wait()
    judged = serve(node(root, name))
    (root / f"judged.{name}").write_text("\n".join(judged))


@pytest.mark.exhaustive  # each run has test_jobs_are_judged_in_the_order_in_which_they_came
def test_several_processes_judge_each_job_once(root: Path) -> None:
    jobs = {f"{number}.1.a" for number in range(200)}
    for job in jobs:
        offer(root, job)
    context = multiprocessing.get_context("fork")
    start = context.Event()
    processes = [
        context.Process(target=_serve_and_count, args=(root, str(n), start)) for n in range(4)
    ]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join()
    judged = [job for path in root.glob("judged.*") for job in path.read_text().split()]
    assert (sorted(judged), set(done(root))) == (sorted(jobs), jobs)


class ForgottenPath(PosixPath):
    """A job that its platform forgets in the moment in which a node takes it."""

    def rename(self, target: Any) -> Any:
        taken = super().rename(target)
        shutil.rmtree(target)
        return taken


class Late(SharedJobs):
    """Takes such jobs."""

    def _offers(self) -> list[Offer]:
        return [replace(one, path=ForgottenPath(one.path)) for one in super()._offers()]


def test_a_job_that_is_forgotten_while_it_is_taken_ends_no_node(root: Path) -> None:
    offer(root, "1.1.a")
    assert [] == serve(Late(root, NEEDS, "7", 0.0, 1000.0, ""))
    assert [[], []] == [list((root / name).iterdir()) for name in ("waiting", "jobs")]
