"""Judges the newest text of a file, again and again."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import KernelbotError
from kernelbot.harness.host.warm.client import WarmJudge
from kernelbot.harness.host.warm.connection import Connection, NoWarmJudge, Stopped
from kernelbot.harness.judge.build.on_cpu import why_no_time
from kernelbot.preflight.file_diagnostics import file_diagnostics
from kernelbot.preflight.model import Diagnostic, Preflight
from kernelbot.protocol import Fault, JobSpec, Mode, ProgressEvent, RunResult, SourceFile, Verdict
from kernelbot.protocol.os_errors import in_words
from kernelbot.render.advice import error_text
from kernelbot.saves.model import Save, Timings
from kernelbot.server.dev.files import changes, read_now
from kernelbot.server.dev.versions import LogEntry, Versions
from kernelbot.server.judging_settings import read_judging_settings
from kernelbot.server.preflight import Preflights
from kernelbot.submissions.source import check_language, source_text

_LOOK_S = 0.5
_GET_READY_S = 0.1
SAVED_AGAIN = "It was saved again before it was judged to the end."
INTERRUPTED = "The session ended before it was judged to the end."


class Display(Protocol):
    """Shows what happens; called from one thread."""

    def begin(self, number: int) -> None:
        """A save is being judged."""

    def step(self, text: str) -> None:
        """Something else happens first, such as starting a judge."""

    def event(self, event: ProgressEvent) -> None:
        """Progress."""

    def tests(self, verdict: Verdict, after_s: float) -> None:
        """How the tests ended, `after_s` after the save."""

    def end(self, save: Save) -> None:
        """All is known of a save."""


@dataclass(frozen=True)
class _Saved:
    """`trouble`: why the file couldn't be read; else empty."""

    number: int
    content: bytes
    trouble: str
    at_s: float
    job: Future[JobSpec]
    """What it is judged as: made while what it replaces is being stopped. Raises as `_job`."""


class DevSession:
    """Watches one file. What is saved meanwhile replaces what is being judged."""

    def __init__(
        self,
        problem: Path,
        file: Path,
        device: str | None,
        judge: WarmJudge,
        versions: Versions,
        display: Display,
        preflights: Preflights | None = None,
        *,
        once: bool = False,
    ) -> None:
        """`preflights`: of the file, for the GPUs that it is compiled for at each save; None: for
        none. `once`: only the file as it is. Raises `UserError` if the configuration is wrong or
        has no such device."""
        self._problem = problem
        self._file = file
        self._settings = read_judging_settings()
        self._device = self._settings.device(device)
        self._judge = judge
        self._versions = versions
        self._display = display
        self._preflights = preflights
        self._once = once
        self._last: Save | None = None
        self._timings = Timings()
        self._changed = threading.Condition()
        self._saves = 0
        self._newest: _Saved | None = None
        """What waits to be judged."""
        self._current: _Saved | None = None
        """What is being judged."""
        self._seen: tuple[bytes, str] | None = None
        """The file at the last look."""
        self._saved: _Saved | None = None
        """The last of all."""
        self._connection: Connection | None = None
        self._over = threading.Event()
        self._failure: BaseException | None = None
        """What ended the worker; it is raised in the main thread."""

    def watch(self) -> Save | None:
        """Judge the file as it is, and then at each change. Returns at KeyboardInterrupt, once
        what was being judged has been stopped: the latest save that has ended, None if none has.
        Raises whatever the display raises."""
        worker = threading.Thread(target=self._work, name="judging")
        try:
            worker.start()
            self._save()
            if self._once:
                while not self._over.wait(_LOOK_S):
                    pass  # Ctrl-C just before a wait begins doesn't end that one
            else:
                for is_told in changes(self._file, self._over):
                    self._save(again=is_told)
        except KeyboardInterrupt:
            pass
        finally:
            with self._changed:
                self._over.set()
                self._give_up_jobs()
                self._stop()
            if worker.is_alive():  # Ctrl-C may come before Python knows that it has started
                worker.join()
        if self._failure is not None:
            raise self._failure
        return self._last

    def _save(self, *, again: bool = True) -> None:
        """Have the file judged as it is now. `again`: also if it was judged like that last, and at
        once: else when it is seen for the second time, as it may be half written."""
        at_s = time.monotonic()
        try:
            content, trouble = read_now(self._file), ""
        except KernelbotError as error:
            content, trouble = b"", str(error)
        is_seen, self._seen = self._seen == (content, trouble), (content, trouble)
        if not (again or is_seen):
            return
        with self._changed:
            latest = self._newest or self._current or (None if again else self._saved)
            if latest is not None and (latest.content, latest.trouble) == (content, trouble):
                return  # an editor's second change for the same save
            self._saves += 1
            self._newest = self._saved = _Saved(self._saves, content, trouble, at_s, Future())
            saved = self._newest
            self._stop()
        self._make_job(saved)

    def _make_job(self, saved: _Saved) -> None:
        try:
            saved.job.set_result(self._job(saved))
        except Exception as error:  # noqa: BLE001 (raised again by who judges it)
            saved.job.set_exception(error)

    def _give_up_jobs(self) -> None:
        """Give up the jobs that Ctrl-C left unmade: the worker waits for them. With the lock
        held."""
        for saved in (self._newest, self._current):
            if saved is not None and not saved.job.done():
                saved.job.set_exception(Stopped())

    def _stop(self) -> None:
        """With the lock held."""
        if self._connection is not None:
            self._connection.stop()
        self._changed.notify()

    def _work(self) -> None:
        try:
            while (saved := self._next()) is not None:
                self._display.begin(saved.number)
                self._last = self._judged(saved)
                self._display.end(self._last)
                if self._once:
                    self._over.set()
        except BaseException as error:  # noqa: BLE001 (raised again by `watch`)
            self._failure = error
            self._over.set()

    def _next(self) -> _Saved | None:
        with self._changed:
            self._current = None
            self._changed.wait_for(lambda: self._newest is not None or self._over.is_set())
            self._current, self._newest = self._newest, None
            return None if self._over.is_set() else self._current

    def _judged(self, saved: _Saved) -> Save:
        if saved.trouble:
            return Save(saved.number, trouble=saved.trouble, fault=Fault.AUTHOR)
        try:
            job = saved.job.result()
            tests_s = None
            compiled: tuple[Preflight, ...] = ()
            result = self._result(job)
            if result is not None:
                tests_s = time.monotonic() - saved.at_s
                self._display.tests(result.verdict, tests_s)
                compiled = self._compiled(job)
                timed = replace(job, mode=Mode.BENCHMARK)
                if result.verdict is Verdict.ACCEPTED and not why_no_time(timed):
                    self._let_it_get_ready()
                    result = self._result(timed)
            return replace(
                self._stored(saved, result, tests_s),
                preflights=compiled,
                diagnostics=self._diagnostics(job, result, compiled),
            )
        except (KernelbotError, NoWarmJudge) as error:
            fault = error.fault if isinstance(error, KernelbotError) else Fault.PLATFORM
            return Save(saved.number, trouble=_error_text(error), fault=fault)
        except Stopped:  # by Ctrl-C, before there was a job
            return Save(saved.number, trouble=self._why_stopped())

    def _diagnostics(
        self, job: JobSpec, result: RunResult | None, compiled: tuple[Preflight, ...]
    ) -> tuple[Diagnostic, ...]:
        source = job.submission
        return file_diagnostics(
            result, compiled, source.text, judged_as=source.name, file=str(self._file)
        )

    def _compiled(self, job: JobSpec) -> tuple[Preflight, ...]:
        """For each GPU that was asked for; none if that was stopped. Raises `NoWarmJudge`."""
        if self._preflights is None:
            return ()
        try:
            found = self._preflights.compile(
                self._settings, job.problem, job.submission, self._try, self._display.step
            )
        except Stopped:
            return ()
        return tuple(found)

    def _let_it_get_ready(self) -> None:
        """While a kernel is timed, the judge gets nothing ready for a save that stops that: it does
        so now, when nobody waits."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._newest is not None or self._over.is_set(), _GET_READY_S
            )

    def _job(self, saved: _Saved) -> JobSpec:
        """The tests alone: a job that is going to be timed gets processes ready for that while its
        tests run, which would be waited for. The problem is read anew each time: its author may be
        at work on it. Raises `InvalidProblem` and `InvalidSubmission`."""
        problem = load_problem(self._problem).definition.spec
        check_language(self._file.name, problem.lang)
        submission = SourceFile(problem.submission_name, source_text(saved.content))
        return self._settings.job(problem, submission, Mode.TEST, self._device)

    def _result(self, job: JobSpec) -> RunResult | None:
        """None: stopped. Raises `NoWarmJudge` if a second judge fails as well."""
        try:
            try:
                return self._try(job)
            except NoWarmJudge as error:
                self._display.step(f"{error} Trying again.")
                return self._try(job)
        except Stopped:
            return None

    def _try(self, job: JobSpec) -> RunResult:
        with self._judge.connected(self._display.step) as connection, self._stoppable(connection):
            return connection.judge(job, self._display.event, self._display.step)

    @contextmanager
    def _stoppable(self, connection: Connection) -> Iterator[None]:
        """While `_stop` stops this. Raises `Stopped` if there is something newer already."""
        with self._changed:
            if self._newest is not None or self._over.is_set():
                raise Stopped
            self._connection = connection
        try:
            yield
        finally:
            with self._changed:
                self._connection = None

    def _stored(self, saved: _Saved, result: RunResult | None, tests_s: float | None) -> Save:
        """What was stopped before its tests had ended wasn't judged, and isn't a version."""
        if result is None and tests_s is None:
            return Save(saved.number, trouble=self._why_stopped())
        entry = self._entry(saved, result)
        version, sha256 = (entry.number, entry.sha256) if entry else (None, None)
        if result is None:
            why = self._why_stopped()
            return Save(saved.number, None, why, version=version, sha256=sha256, tests_s=tests_s)
        accepted = result.verdict is Verdict.ACCEPTED
        workloads = result.phases[-1].workloads if accepted and result.phases else ()
        timed = self._timings.add(workloads)
        return Save(
            saved.number, result, version=version, sha256=sha256, tests_s=tests_s, workloads=timed
        )

    def _why_stopped(self) -> str:
        with self._changed:
            return SAVED_AGAIN if self._newest is not None else INTERRUPTED

    def _entry(self, saved: _Saved, result: RunResult | None) -> LogEntry | None:
        """None, and the reason told, if the version can't be kept: a full disk, say."""
        try:
            sha256 = self._versions.keep(saved.content)
            if result is None:
                return self._versions.add(sha256, note=self._why_stopped())
            return self._versions.add(sha256, result.verdict, result.score_s)
        except OSError as error:
            self._display.step(f"This version can't be kept: {in_words(error)}.")
            return None


def _error_text(error: Exception) -> str:
    return error_text(error) if isinstance(error, KernelbotError) else str(error)
