"""A session of `kernelbot dev` ends with Ctrl-C, at whatever moment that comes."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.cli.dev.displays import Documents
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.protocol import Lang
from kernelbot.saves.model import Save
from kernelbot.server.dev.session import DevSession
from kernelbot.server.dev.versions import Versions
from kernelbot.server.warm_judge import warm_judge
from tests.support.warm import end_judges

Begin = threading.Thread.start


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """It interrupts, also if the tests were started by a shell that shields what it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DevSession]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    new_problem(tmp_path / "sums", "sums", Lang.PY)
    file = tmp_path / "sums" / "submission.py"
    with (
        contextlib.closing(PrivateFolder.open(tmp_path / "run")) as folder,
        contextlib.closing(Versions(file)) as versions,
    ):
        yield DevSession(tmp_path / "sums", file, None, warm_judge(folder), versions, Documents())
        end_judges(folder)


def at_work() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "judging"]


def test_ctrl_c_while_the_worker_starts(
    session: DevSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(thread: threading.Thread) -> None:
        Begin(thread)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    session.watch()
    assert [] == at_work()


class TwoSaves(Documents):
    """Ends the session with the second save."""

    def end(self, save: Save) -> None:
        super().end(save)
        if save.number == 2:
            signal.raise_signal(signal.SIGINT)


def test_what_is_saved_before_watching_has_begun_is_judged(
    session: DevSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_job = session._make_job

    def saved_again(saved: Any) -> None:
        if saved.number == 1:
            session._file.write_text("raise ValueError('the second')")
        make_job(saved)

    monkeypatch.setattr(session, "_make_job", saved_again)
    monkeypatch.setattr(session, "_display", TwoSaves())
    last = session.watch()
    assert last is not None
    assert last.result is not None
    assert last.result.failure is not None
    assert (2, True) == (last.number, "the second" in last.result.failure.message)


def test_ctrl_c_before_a_job_is_made(session: DevSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_saved: object) -> None:
        while session._current is None:  # the worker waits for the job
            time.sleep(0.005)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(session, "_make_job", interrupted)
    session.watch()
    assert [] == at_work()
