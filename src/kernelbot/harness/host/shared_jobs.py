"""A node that takes its jobs out of a folder that many nodes share, one at a time.

Below the folder, as the launcher writes and reads it:

    waiting/NEEDS-SECONDS-JOB/  a job that nobody has yet; the seconds are its time limit
    jobs/JOB/                   one that somebody has taken: `node.NAME` says who
    done/JOB                    it has ended: `0` with a result, `cancelled`, or `failed`
    cancels/JOB                 it is no longer wanted

A rename decides who has a job, so it is judged by one node alone. This module knows nothing of
judging, only of files.
"""

import contextlib
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kernelbot.harness.host.cancellation import Cancellation

CANCELLED, FAILED = "cancelled", "failed"
_LOOK_S = 0.1
_LOOK_WHILE_JUDGING_S = 0.5
_ASK_S = 10.0
_MOST_WORDS = 2000

Judge = Callable[[Path, Cancellation], str]
"""Judges the job in a folder; empty: its result is there, else why there is none."""


@dataclass(frozen=True)
class Offer:
    """A job that waits."""

    path: Path
    limit_s: int
    job: str

    @classmethod
    def parse(cls, path: Path, needs: str) -> "Offer | None":
        """None: no job for a node of these needs."""
        mine, seconds, job = (*path.name.split("-", 2), "", "")[:3]
        if mine != needs or not seconds.isdecimal() or not job:
            return None
        return cls(path, int(seconds), job)

    @property
    def since(self) -> float:
        """When it was put there; the far future if it is gone."""
        try:
            return self.path.stat().st_mtime
        except FileNotFoundError:
            return float("inf")


@dataclass(frozen=True)
class SharedJobs:
    """What one node does. `needs`: of which jobs, see above; `ask_left`: a command that says for
    how many more seconds this node may take jobs; empty: only `limit_s` says so."""

    root: Path
    needs: str
    node: str
    idle_s: float
    limit_s: float
    ask_left: str = ""
    _began_s: float = field(default_factory=time.monotonic)

    def serve(self, judge: Judge) -> None:
        """Judge what waits; return when nothing has come for `idle_s`, at once if nothing is there
        at the beginning or the time that is left is too short for what waits."""
        until_s = time.monotonic()
        while True:
            offers = self._offers()
            if not offers:
                if time.monotonic() >= until_s:
                    return
                time.sleep(_LOOK_S)
                continue
            left_s = self._left_s()
            fitting = [offer for offer in offers if offer.limit_s <= left_s]
            if not fitting:
                return  # another node is started for them, perhaps on what this one holds
            if self._take(fitting[0]):
                self._judge(fitting[0].job, judge)
                until_s = time.monotonic() + self.idle_s

    def _offers(self) -> list[Offer]:
        """What waits for a node like this, the oldest first."""
        found = (Offer.parse(path, self.needs) for path in self._fresh("waiting"))
        return sorted((offer for offer in found if offer), key=lambda offer: offer.since)

    def _fresh(self, name: str) -> list[Path]:
        """What a folder holds now. A folder of NFS is shown as it was up to half a minute ago,
        unless whoever looks has changed it."""
        folder = self.root / name
        mark = folder / f".look.{self.node}"
        mark.mkdir(exist_ok=True)
        mark.rmdir()
        return list(folder.iterdir())

    def _left_s(self) -> float:
        """Seconds for which jobs may still be taken."""
        mine_s = self._began_s + self.limit_s - time.monotonic()
        if not self.ask_left:
            return mine_s
        try:
            said = subprocess.run(
                ["sh", "-c", self.ask_left],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_ASK_S,
                check=False,
            )
            return min(mine_s, float(int(said.stdout)))
        except (subprocess.TimeoutExpired, ValueError):  # nobody can say
            return mine_s

    def _take(self, offer: Offer) -> bool:
        """Whether this node has the job now."""
        folder = self.root / "jobs" / offer.job
        try:
            offer.path.rename(folder)
        except FileNotFoundError:
            return False
        except OSError:
            if not folder.is_dir():
                raise
            shutil.rmtree(offer.path, ignore_errors=True)  # it was begun before
            return False
        try:
            (folder / f"node.{self.node}").touch()
        except FileNotFoundError:
            return False  # nobody wants to know any more
        return True

    def _judge(self, job: str, judge: Judge) -> None:
        folder = self.root / "jobs" / job
        cancelled = Cancellation()
        with self._watching(job, cancelled):
            why_not = CANCELLED if cancelled.is_set() else judge(folder, cancelled)
        if not folder.is_dir():
            return  # nobody wants to know
        (folder / "jobspec.json").unlink(missing_ok=True)
        if why_not:
            (folder / "log").write_text(why_not[:_MOST_WORDS] + "\n", encoding="utf-8")
        code = "0" if not why_not else CANCELLED if cancelled.is_set() else FAILED
        draft = self.root / "done" / f".{job}.{self.node}"
        draft.write_text(code + "\n", encoding="ascii")
        draft.rename(self.root / "done" / job)

    @contextlib.contextmanager
    def _watching(self, job: str, cancelled: Cancellation) -> Iterator[None]:
        """Look whether the job is cancelled, before the block and while it goes on."""
        ended = threading.Event()

        def look() -> bool:
            unwanted = any(path.name == job for path in self._fresh("cancels"))
            if unwanted or not (self.root / "jobs" / job).is_dir():  # forgotten
                cancelled.set()
            return cancelled.is_set()

        def keep_looking() -> None:
            while not ended.wait(_LOOK_WHILE_JUDGING_S):
                with contextlib.suppress(OSError):  # of a full or distant disk: it is looked again
                    if look():
                        return

        look()
        thread = threading.Thread(target=keep_looking, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
