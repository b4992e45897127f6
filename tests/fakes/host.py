"""A harness host that speaks the real wire protocol and judges nothing.

The submission's first line says what happens: `# fake: [sleep S] VERDICT [SCORE_S LOW HIGH]`, with
`suspicious` (the harness noticed something) or `script` (the problem's own measured) at its end, or
`# fake: die` (the host is gone), `# fake: die-until FILE N` (as often as that, then accepted),
`# fake: garbage` (a result that can't be read), `# fake: give-up WORD` (the end without a result,
and why), `# fake: stop` (the host stands still), `# fake: shout BYTES VERDICT` (an event as long
as that). In mode profile it leaves `ARTIFACTS`.

Of a duel, the line `# duel: RATIO LOW HIGH` of the submission says what it shows (without it: 1,
from 0.99 to 1.01), `# duel: VERDICT` that the submission fails in it,
`# duel: opponent VERDICT` that the opponent does, and `# duel: sleep S ...` that it takes so long.
"""

import base64
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from kernelbot.protocol import (
    Artifact,
    DuelResult,
    DuelWorkload,
    EventKind,
    Failure,
    Fault,
    HarnessKind,
    JobSpec,
    Mode,
    Phase,
    PhaseResult,
    ProgressEvent,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
    WorkloadResult,
    from_wire,
    to_wire,
)

_OUT = threading.Lock()
ARTIFACTS = (
    Artifact("profile.0.txt", "text/plain", base64.b64encode(b"a table").decode()),
    Artifact("profile.0.trace.json.gz", "application/gzip", base64.b64encode(b"\x1f\x8b").decode()),
    Artifact("../a'; echo x", "text/html", base64.b64encode(b"<script>").decode()),
    Artifact("/a'; echo x", "image/svg+xml", base64.b64encode(b"<svg>").decode()),
)


def main() -> None:
    """Serve until stdin ends."""
    cancelled: set[str] = set()
    for line in sys.stdin:
        message = json.loads(line)
        if "ping" in message:
            _say({"pong": message["ping"]})
        elif "cancel" in message:
            cancelled.add(message["cancel"])
        else:
            threading.Thread(target=_judge, args=(message["run"], cancelled), daemon=True).start()
    os._exit(0)


def _judge(folder: str, cancelled: set[str]) -> None:
    job = from_wire(JobSpec, json.loads((Path(folder) / "jobspec.json").read_text()))
    with (Path(folder).parent / "judged.log").open("a") as log:
        log.write(job.job_id + "\n")
    _tell(folder, event=to_wire(ProgressEvent(EventKind.STARTED)))
    words = _perform(words_of(job), folder, cancelled)
    if not words:
        _tell(folder, finished=True)
        return
    started = ProgressEvent(EventKind.PHASE_STARTED, phase=Phase.TEST, total=1)
    _tell(folder, event=to_wire(started))
    draft = Path(folder) / "result.json.new"
    draft.write_text("{}" if words == ["garbage"] else json.dumps(to_wire(result_of(job, words))))
    draft.rename(Path(folder) / "result.json")
    _tell(folder, finished=True)


def _perform(words: list[str], folder: str, cancelled: set[str]) -> list[str]:
    """Do what comes before a verdict; nothing is left when the job was cancelled."""
    if words[0] == "die":
        os._exit(9)
    if words[0] == "die-until":
        count = Path(words[1])
        deaths = int(count.read_text()) if count.exists() else 0
        if deaths < int(words[2]):
            count.write_text(str(deaths + 1))
            os._exit(9)
        return ["accepted"]
    if words[0] == "give-up":
        _tell(folder, finished=True, error=words[1])
        sys.exit()
    if words[0] == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if words[0] == "shout":
        _tell(folder, event={"kind": "case", "message": "x" * int(words[1])})
        return words[2:]
    if words[0] == "sleep":
        until = time.monotonic() + float(words[1])
        while time.monotonic() < until:
            if folder in cancelled:
                return []
            time.sleep(0.02)
        return words[2:]
    return words


def words_of(job: JobSpec) -> list[str]:
    """What the submission's first line says; of a duel, the line about that."""
    lines = job.submission.text.splitlines()
    if job.opponent is not None:
        said = (line for line in lines if line.startswith("# duel:"))
        return next(said, "1 0.99 1.01").removeprefix("# duel:").split()
    return lines[0].removeprefix("# fake:").split()


def result_of(job: JobSpec, words: list[str]) -> RunResult:
    """The result that the words ask for: VERDICT, and what may follow it."""
    if job.opponent is not None:
        return _dueled(job, words)
    verdict = Verdict(words[0])
    numbers = [float(word) for word in words[1:] if word not in ("suspicious", "script")]
    timed = job.mode == Mode.LEADERBOARD and verdict == Verdict.ACCEPTED
    score_s = numbers[0] if numbers else 1.0
    low_s, high_s = numbers[1:3] if len(numbers) > 2 else (score_s, score_s)
    ends = (low_s * 1e9, high_s * 1e9)
    samples = () if "script" in words else (score_s * 1e9, *ends)
    load = WorkloadResult("size: 1", samples, score_s * 1e9, score_s * 1e9, 0.0, ends, *ends)
    message = "seeds\x00 and \udc80 more"
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=job.mode,
        harness=HarnessKind.SCRIPT if "script" in words else HarnessKind.NATIVE,
        verdict=verdict,
        system=SystemInfo(job.device.name, "fake", "fake", "3"),
        sandbox=SandboxReport("none"),
        score_s=score_s if timed else None,
        score_ci95_s=(numbers[1], numbers[2]) if timed and len(numbers) > 2 else None,
        phases=(PhaseResult(Phase.LEADERBOARD, verdict, 0.1, workloads=(load,)),) if timed else (),
        stdout="hello\x00",
        artifacts=ARTIFACTS if job.mode == Mode.PROFILE else (),
        failure=None if verdict == Verdict.ACCEPTED else Failure(Fault.AUTHOR, message),
        suspicions=("Its claims spread less than the clock.",) if "suspicious" in words else (),
    )


def _dueled(job: JobSpec, words: list[str]) -> RunResult:
    opposed = words[0] == "opponent"
    words = words[1:] if opposed else words
    failed = words[0] in set(Verdict)
    ratio = None
    if not failed:
        value, low, high = map(float, words)
        load = DuelWorkload("size: 1", (1e9, 2e9), (1e9, 2e9), value, (low, high))
        ratio = DuelResult(value, (low, high), (load,))
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=job.mode,
        harness=HarnessKind.NATIVE,
        verdict=Verdict(words[0]) if failed else Verdict.ACCEPTED,
        system=SystemInfo(job.device.name, "fake", "fake", "3"),
        sandbox=SandboxReport("none"),
        failure=Failure(Fault.AUTHOR, "a secret case") if failed else None,
        duel=ratio,
        opponent_failed=opposed,
    )


def _tell(folder: str, **message: object) -> None:
    _say({"job": folder, **message})


def _say(message: dict[str, object]) -> None:
    with _OUT:
        print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
