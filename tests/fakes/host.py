"""A harness host that speaks the real wire protocol and judges nothing.

The submission's first line says what happens: `# fake: [sleep S] VERDICT [SCORE_S LOW HIGH]`, with
`suspicious` (the harness noticed something), `busy` (all calls had to wait) or `script` (the
problem's own measured) at its end, or
`# fake: until FILE VERDICT` (once that file exists), `# fake: secret VERDICT` (so on secret data,
accepted in public), `# fake: die` (the host is gone),
`# fake: die-until FILE N` (as often as that, then accepted), `# fake: garbage` (a result that can't
be read), `# fake: long BYTES` (one of that size, and none), `# fake: give-up WORD` (the end without
a result, and why), `# fake: stop` (the host stands still), `# fake: shout BYTES VERDICT` (an event
as long as that). A file that says nothing is wrong, e.g. a starter file, which the platform judges
too. In mode profile it leaves `ARTIFACTS`. The line `# says: N` makes the failure's
message N characters long; `# tells: TEXT` is the message itself, in which `\\n` is a line's end.

Of a build step, the line `# builds: [sleep S] VERDICT` says what happens; without it, it goes well,
with one kernel.

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
from dataclasses import dataclass, replace
from pathlib import Path

from kernelbot.protocol import (
    Artifact,
    CaseResult,
    CompileReport,
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
from kernelbot.protocol.phases import TIMED, cases_of, phases_of
from kernelbot.protocol.scoring import spread_of

_OUT = threading.Lock()
VERSION = "0.0.fake"
_MESSAGE = "seeds\x00 and \udc80 more"
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
    draft.write_text(content_of(job, words))
    draft.rename(Path(folder) / "result.json")
    _tell(folder, finished=True)


def content_of(job: JobSpec, words: list[str]) -> str:
    """Of the result's file."""
    if words == ["garbage"]:
        return "{}"
    if words[0] == "long":
        return os.urandom(int(words[1]) // 2).hex()
    return json.dumps(to_wire(result_of(job, words)))


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
    if words[0] in ("sleep", "until"):
        end_s = time.monotonic() + float(words[1]) if words[0] == "sleep" else 0.0
        while time.monotonic() < end_s if words[0] == "sleep" else not Path(words[1]).exists():
            if folder in cancelled:
                return []
            time.sleep(0.02)
        return words[2:]
    return words


def words_of(job: JobSpec) -> list[str]:
    """What the submission's first line says; of a duel, the line about that."""
    lines = job.submission.text.splitlines()
    if job.build_only:
        built = (line for line in lines if line.startswith("# builds:"))
        return next(built, "accepted").removeprefix("# builds:").split()
    if job.opponent is not None:
        said = (line for line in lines if line.startswith("# duel:"))
        return next(said, "1 0.99 1.01").removeprefix("# duel:").split()
    first = lines[0] if lines else ""
    return first.removeprefix("# fake:").split() if "# fake:" in first else ["wrong_answer"]


def result_of(job: JobSpec, words: list[str]) -> RunResult:
    """The result that the words ask for: VERDICT, and what may follow it."""
    if job.build_only:
        return _built(job, Verdict(words[0]))
    if job.opponent is not None:
        return _dueled(job, words)
    if words[0] == "secret":
        words = words[1:] if job.secret else ["accepted"]
    verdict = Verdict(words[0])
    numbers = [float(word) for word in words[1:] if word not in ("suspicious", "busy", "script")]
    accepted = verdict == Verdict.ACCEPTED
    score_s = numbers[0] if numbers else 1.0
    low_s, high_s = numbers[1:3] if len(numbers) > 2 else (score_s, score_s)
    times_ns = low_s * 1e9, score_s * 1e9, high_s * 1e9
    measured = _Measured(job, times_ns, "script" in words, "busy" in words)
    phases = tuple(map(measured.phase, phases_of(job))) if accepted else (_refused(verdict),)
    timed = any(phase.workloads for phase in phases)
    fault = Fault.PLATFORM if verdict == Verdict.INTERNAL_ERROR else Fault.AUTHOR
    said = (line for line in job.submission.text.splitlines() if line.startswith("# says: "))
    length = int(next(said, "# says: 0").removeprefix("# says: "))
    told = (line for line in job.submission.text.splitlines() if line.startswith("# tells: "))
    text = next(told, "# tells: ").removeprefix("# tells: ").replace("\\n", "\n")
    message = "`" * length or text or _MESSAGE
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=job.mode,
        harness=HarnessKind.SCRIPT if "script" in words else HarnessKind.NATIVE,
        harness_version=VERSION,
        verdict=verdict,
        system=SystemInfo(job.device.name, "fake", "fake", "3", None),
        sandbox=SandboxReport("none", (), ()),
        score_s=score_s if timed else None,
        score_ci95_s=(low_s, high_s) if timed else None,
        phases=phases,
        stdout="hello\x00",
        artifacts=ARTIFACTS if job.mode == Mode.PROFILE else (),
        failure=None if accepted else Failure(fault, message),
        suspicions=("Its claims spread less than the clock.",) if "suspicious" in words else (),
    )


def _built(job: JobSpec, verdict: Verdict) -> RunResult:
    kernel = {"name": "sort", "registers": "40", "stack_bytes": "0", "shared_bytes": "1024"}
    is_built = verdict is Verdict.ACCEPTED
    fault = Fault.PLATFORM if verdict is Verdict.INTERNAL_ERROR else Fault.AUTHOR
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=job.mode,
        harness=HarnessKind.NATIVE,
        verdict=verdict,
        system=SystemInfo(job.device.name, "fake", "fake", "3", None),
        sandbox=SandboxReport("none", (), ()),
        compile=CompileReport("nvcc", "", 2.0, cached=False, kernels=(kernel,) * is_built),
        failure=None if is_built else Failure(fault, "a'; echo x"),
    )


def _refused(verdict: Verdict) -> PhaseResult:
    return PhaseResult(Phase.TEST, verdict, 0.1)


@dataclass(frozen=True)
class _Measured:
    """Phases in which all is well. The median lies between the first time and the last."""

    job: JobSpec
    times_ns: tuple[float, float, float]
    by_script: bool
    busy: bool = False

    def phase(self, phase: Phase) -> PhaseResult:
        specs = [case.spec for _, case in cases_of(self.job.problem, phase)]
        loads = tuple(map(self._load, specs)) if phase in TIMED else ()
        cases = () if loads else tuple(CaseResult(spec, Verdict.ACCEPTED, "") for spec in specs)
        return PhaseResult(phase, Verdict.ACCEPTED, 0.1, cases, loads)

    def _load(self, spec: str) -> WorkloadResult:
        low, median, high = self.times_ns
        samples = () if self.by_script else samples_of(self.job, self.times_ns)
        spread = spread_of(samples or (median,))
        mean, stdev = spread.mean_ns, spread.stdev_ns
        stopped_by = "script" if self.by_script else "wall_cap"
        waited = len(samples) if self.busy else None
        ends = low, high
        return WorkloadResult(
            spec, samples, median, mean, stdev, ends, *ends, stopped_by=stopped_by, waited=waited
        )


def samples_of(job: JobSpec, times_ns: tuple[float, float, float]) -> tuple[float, ...]:
    """As few as are a measurement, whose median is the second time, and whose interval goes from
    the first to the last."""
    low, median, high = times_ns
    return (median, low, high) * (1 if job.sampling.min_samples <= len(times_ns) else 2)


def _dueled(job: JobSpec, words: list[str]) -> RunResult:
    opposed = words[0] == "opponent"
    words = words[1:] if opposed else words
    failed = words[0] in set(Verdict)
    ratio = None
    phases: list[PhaseResult] = []
    if failed:
        phases = [replace(_refused(Verdict(words[0])), of_opponent=opposed)]
        if opposed:
            phases.insert(0, _Measured(job, (0, 0, 0), by_script=False).phase(Phase.TEST))
    else:
        value, low, high = map(float, words)
        ratio = _ratio(job, (low, value, high))
        test = _Measured(job, (0, 0, 0), by_script=False).phase(Phase.TEST)
        ranked = PhaseResult(Phase.LEADERBOARD, Verdict.ACCEPTED, 0.1)
        phases = [test, replace(test, of_opponent=True), ranked]
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=job.mode,
        harness=HarnessKind.NATIVE,
        verdict=Verdict(words[0]) if failed else Verdict.ACCEPTED,
        system=SystemInfo(job.device.name, "fake", "fake", "3", None),
        sandbox=SandboxReport("none", (), ()),
        phases=tuple(phases),
        failure=Failure(Fault.AUTHOR, "a secret case") if failed else None,
        duel=ratio,
        opponent_failed=opposed,
    )


def _ratio(job: JobSpec, ratios: tuple[float, float, float]) -> DuelResult:
    """The opponent takes a second each time."""
    low, value, high = ratios
    mine = samples_of(job, (low * 1e9, value * 1e9, high * 1e9))
    loads = tuple(
        DuelWorkload(case.spec, mine, (1e9,) * len(mine), value, (low, high), "wall_cap")
        for _, case in cases_of(job.problem, Phase.LEADERBOARD)
    )
    return DuelResult(value, (low, high), loads)


def _tell(folder: str, **message: object) -> None:
    _say({"job": folder, **message})


def _say(message: dict[str, object]) -> None:
    with _OUT:
        print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
