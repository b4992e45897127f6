"""`host`: many jobs over a long life, asked for in JSON lines on stdin: each is a folder, see
`job_folder`."""

import json
import os
import signal
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from kernelbot.harness.host.cancellation import Cancellation
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.job_folder import FolderJudge
from kernelbot.harness.host.shared_jobs import SharedJobs
from kernelbot.harness.inside import kernel

_STOPPED = 128 + signal.SIGTERM
_END_S = 1.0
"""For how long jobs that were cancelled are waited for. Whoever ends us kills us after five."""


@dataclass
class Server:
    """Judges what it is asked for, `slots` jobs at a time."""

    host: Host
    slots: int
    no_sandbox_ok: bool
    _cancelled: dict[str, Cancellation] = field(default_factory=dict)
    _jobs: set[Future[None]] = field(default_factory=set)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def serve(self) -> None:
        """Until stdin ends or SIGTERM comes; what runs then is killed and has no result."""
        signal.signal(signal.SIGTERM, _leave)
        pool = ThreadPoolExecutor(self.slots)
        try:
            for line in sys.stdin:
                self._handle_command(line, pool)
            _end_undisturbed()
        except (KeyboardInterrupt, SystemExit):
            _end_undisturbed()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for event in list(self._cancelled.values()):
                event.set()
            wait(list(self._jobs), _END_S)  # a job ends the compiler of torch's header by itself
            self.host.close()
            sys.stdout.flush()
            os._exit(0)  # threads that still wait for a dead judge have nothing left to say

    def _handle_command(self, line: str, pool: ThreadPoolExecutor) -> None:
        try:
            order = json.loads(line)
            if "ping" in order:
                self._say({"pong": order["ping"]})
                return
            folder = order.get("run") or order["cancel"]
        except (ValueError, AttributeError, KeyError, TypeError):
            print(f"not understood: {line[:200]!r}", file=sys.stderr)
            return
        if "run" in order:
            cancelled = self._cancelled[folder] = Cancellation()
            job = pool.submit(self._run, folder, cancelled)
            self._jobs.add(job)
            job.add_done_callback(self._jobs.discard)
        elif folder in self._cancelled:
            self._cancelled[folder].set()

    def _run(self, folder: str, cancelled: Cancellation) -> None:
        def tell(event: dict[str, Any]) -> None:
            self._say({"job": folder, "event": event})

        judge = FolderJudge(self.host, self.no_sandbox_ok, durable=False)
        ending = judge.judge(Path(folder), cancelled, tell)
        self._cancelled.pop(folder, None)
        said: dict[str, Any] = {"job": folder, "finished": True}
        if ending.cancelled:
            said["cancelled"] = True
        if ending.error:
            said["error"] = ending.error
        self._say(said)

    def _say(self, message: dict[str, Any]) -> None:
        with self._writing:
            print(json.dumps(message), flush=True)


def serve_shared(host: Host, jobs: SharedJobs, *, no_sandbox_ok: bool) -> NoReturn:
    """Judge what lies in the folder that nodes share, until there is no more of it or SIGTERM
    comes; what runs then is killed and has no result. Ends this process."""

    def judge(folder: Path, cancelled: Cancellation) -> str:
        judges = FolderJudge(host, no_sandbox_ok, durable=True)
        ending = judges.judge(folder, cancelled, lambda _event: None)
        return "cancelled" if ending.cancelled else ending.error

    code = 1
    try:
        signal.signal(signal.SIGTERM, _leave)
        # A scheduler that sees our script end has ended the node, and may not find us.
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
        jobs.serve(judge)
        code = 0
    except SystemExit:
        code = _STOPPED
    except OSError as error:  # of the folder itself
        print(f"the jobs' folder can't be used: {error}", file=sys.stderr)
    finally:
        host.close()
        sys.stderr.flush()
        os._exit(code)  # threads that still wait for a dead judge have nothing left to say


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _end_undisturbed() -> None:
    """Launchers end stdin and send SIGTERM as well, which may come later."""
    signal.signal(signal.SIGTERM, lambda *_: None)
