"""Hostile and broken submissions through the real sandbox: each ends in the right verdict.

After every one of them the next submission is judged as if nothing had been.
"""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    Fault,
    Limits,
    Mode,
    Phase,
    ProgressEvent,
    RunResult,
    SandboxMode,
    Timeouts,
    Verdict,
    to_wire,
)
from tests.harness.jobs import SORT, a_job, a_problem
from tests.support.exhaustive import cases, first_of_each


def quiet(_event: ProgressEvent) -> None:
    return


def judge(host: Host, source: str, limits: Limits | None = None) -> RunResult:
    return host.judge(a_job(source, limits=limits) if limits else a_job(source), quiet)


def kernel(body: str, before: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"import numpy as np\n{before}\ndef custom_kernel(data):\n{lines}\n"


LITTLE_MEMORY = Limits(memory_bytes=256 << 20)
"""Filled long before the time limit, also on a busy machine."""

BAD = {
    "loops": (
        kernel("while True: pass"),
        Verdict.TIME_LIMIT,
        "^The test phase took longer than its time limit of 3 s. Do less in each call",
    ),
    "sleeps": (kernel("import time; time.sleep(60)"), Verdict.TIME_LIMIT, "time limit"),
    "forks without end": (
        kernel("import os\nwhile True:\n    os.fork()"),
        (Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT, Verdict.RULE_VIOLATION),
        "",
    ),
    "allocates without end": (
        kernel("kept = []\nwhile True: kept.append(np.ones(1 << 22))"),
        Verdict.MEMORY_LIMIT,
        "memory",
    ),
    "prints a gigabyte": (
        kernel("for _ in range(1 << 10): print('x' * (1 << 20))"),
        Verdict.OUTPUT_LIMIT,
        "printed more",
    ),
    "reads the shadow file": (
        kernel("return open('/etc/shadow').read()"),
        Verdict.RUNTIME_ERROR,
        "FileNotFoundError|PermissionError",
    ),
    "reads another's environment": (
        kernel("raise ValueError(open('/proc/1/environ').read())"),
        Verdict.RUNTIME_ERROR,
        "PermissionError",
    ),
    "imports the reference": (
        kernel("import reference"),
        Verdict.RUNTIME_ERROR,
        "No module named 'reference'",
    ),
    "opens a socket": (
        kernel("import socket; socket.create_connection(('1.1.1.1', 53), 1)"),
        Verdict.RUNTIME_ERROR,
        "OSError|unreachable",
    ),
    "kills its parent": (
        kernel("import os, signal; os.kill(os.getppid(), signal.SIGKILL); os.kill(1, 9)\nreturn 1"),
        (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR),
        "type int|PermissionError",  # which it has where it is a user of its own
    ),
    "kills itself": (
        kernel("import os; os.kill(os.getpid(), 9)"),
        Verdict.RUNTIME_ERROR,
        "SIGKILL",
    ),
    "segfaults": (
        kernel("import ctypes; ctypes.string_at(8)"),
        Verdict.RUNTIME_ERROR,
        "SIGSEGV",
    ),
    "leaves": (kernel("import os; os._exit(0)"), Verdict.RUNTIME_ERROR, "exit code 0"),
    "calls sys.exit": (kernel("import sys; sys.exit(0)"), Verdict.RUNTIME_ERROR, "sys.exit"),
    "returns None": (kernel("pass"), Verdict.WRONG_ANSWER, "None"),
    "returns a string": (kernel("return 'sorted'"), Verdict.WRONG_ANSWER, "type str"),
    "returns an object": (kernel("return object()"), Verdict.WRONG_ANSWER, "type builtins.object"),
    "returns another shape": (
        kernel("return np.sort(data)[None]"),
        Verdict.WRONG_ANSWER,
        r"shape \(1, 1\), expected \(1,\)",
    ),
    "returns another dtype": (
        kernel("return np.sort(data).astype(np.float64)"),
        Verdict.WRONG_ANSWER,
        "dtype float64, expected float32",
    ),
    "returns NaN": (
        kernel("return np.full_like(data, np.nan)"),
        Verdict.WRONG_ANSWER,
        "contains NaN",
    ),
    "returns a subclass": (
        kernel("return np.sort(data).view(Lazy)", "class Lazy(np.ndarray): pass"),
        Verdict.WRONG_ANSWER,
        "Lazy",
    ),
    "is wrong": (kernel("return data"), Verdict.WRONG_ANSWER, "not sorted"),
    "raises at import": ("raise ValueError('no')", Verdict.RUNTIME_ERROR, "ValueError: no"),
    "does not parse": ("def custom_kernel(data:", Verdict.COMPILE_ERROR, "SyntaxError"),
    "is empty": ("", Verdict.RUNTIME_ERROR, "defines no function custom_kernel"),
    "has null bytes": ("x = 1\0", Verdict.COMPILE_ERROR, "null bytes"),
    "writes to the channel": (
        kernel(
            "import os\n"
            "for fd in range(3, 64):\n"
            "    try: os.write(fd, bytes(4096))\n"
            "    except OSError: pass\n"
            "return np.sort(data)"
        ),
        (Verdict.RULE_VIOLATION, Verdict.RUNTIME_ERROR),
        "",
    ),
    "closes everything": (
        kernel("import os; os.closerange(3, 64); return np.sort(data)"),
        Verdict.RUNTIME_ERROR,
        "",
    ),
}  # fmt: skip


SLOW = ("sleeps", "forks without end")
"""Others end in the same way."""


ALWAYS = first_of_each(
    (name for name in BAD if name not in SLOW), kind=lambda name: repr(BAD[name][1])
)
"""One of each verdict."""


@pytest.mark.parametrize("name", cases(BAD, always=ALWAYS))
def test_a_bad_submission_gets_its_verdict_and_the_next_its_own(host: Host, name: str) -> None:
    import re

    source, verdicts, message = BAD[name]
    job = a_job(source, limits=LITTLE_MEMORY)
    if verdicts is Verdict.MEMORY_LIMIT:  # on a busy machine it takes long to fill it
        patient = Timeouts(test_s=60, benchmark_s=20, ranked_s=20)
        job = replace(job, problem=replace(job.problem, timeouts=patient))
    result = host.judge(job, quiet)
    assert result.failure is not None
    assert Fault.AUTHOR == result.failure.fault, result.failure
    assert result.verdict in (verdicts if isinstance(verdicts, tuple) else (verdicts,))
    assert re.search(message, result.failure.message), result.failure.message
    assert Verdict.ACCEPTED == judge(host, SORT).verdict


def test_writing_to_every_path_hurts_nobody(host: Host) -> None:
    source = kernel(
        "import os\n"
        "for folder, _, _ in os.walk('/'):\n"
        "    try: open(folder + '/sitecustomize.py', 'w').write('raise SystemExit')\n"
        "    except OSError: pass\n"
        "    if folder.count('/') > 3: break\n"
        "return np.sort(data)"
    )
    judge(host, source)
    assert Verdict.ACCEPTED == judge(host, SORT).verdict


def test_a_source_of_two_mebibytes_is_judged(host: Host) -> None:
    assert Verdict.ACCEPTED == judge(host, SORT + "#" * (2 << 20)).verdict


def test_a_file_larger_than_the_limit_cannot_be_written(host: Host) -> None:
    result = judge(host, kernel("open('big', 'wb').write(bytes(64 << 20))\nreturn np.sort(data)"))
    assert Verdict.RUNTIME_ERROR == result.verdict


def test_a_daemon_does_not_outlive_its_phase(host: Host) -> None:
    """Who waited for it would do so for longer than pytest waits for a test."""
    source = kernel(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    time.sleep(600)\n"
        "return np.sort(data)"
    )
    assert Verdict.ACCEPTED == judge(host, source).verdict


def test_what_was_printed_comes_back_even_from_a_crash(host: Host) -> None:
    result = judge(host, kernel("print('almost'); import os; os.kill(os.getpid(), 11)"))
    assert "almost\n" == result.stdout


def test_results_before_a_crash_are_kept(host: Host) -> None:
    result = judge(host, kernel("import os\nif data.size == 64: os._exit(3)\nreturn np.sort(data)"))
    (phase,) = result.phases
    assert [Verdict.ACCEPTED, Verdict.RUNTIME_ERROR, Verdict.RUNTIME_ERROR] == [
        case.verdict for case in phase.cases
    ]
    assert "Not run" in phase.cases[2].message


def test_a_traceback_begins_with_the_authors_frame(host: Host) -> None:
    result = judge(host, kernel("raise KeyError('mine')"))
    assert result.failure is not None
    assert (
        "The submission failed:\nTraceback (most recent call last):\n"
        '  File "submission.py", line 4, in custom_kernel\n'
        "    raise KeyError('mine')\n"
        "KeyError: 'mine'"
    ) == result.failure.message


def test_nothing_of_the_problem_is_in_the_runner(host: Host) -> None:
    source = kernel(
        "import os, gc\n"
        "found = [os.environ, os.listdir('.'), os.listdir('/tmp')]\n"
        "found.append(open('/proc/self/cmdline').read())\n"
        "print(found)\n"
        "return np.sort(data)"
    )
    result = host.judge(a_job(source, secret=True), quiet)
    assert Verdict.ACCEPTED == result.verdict
    for secret in ("reference", "987654321", "SECRET_MARKER", "generate_input"):
        assert secret not in result.stdout


def test_a_leaderboard_run_has_all_phases_samples_and_a_score(host: Host) -> None:
    result = host.judge(a_job(SORT, mode=Mode.LEADERBOARD), quiet)
    assert [Phase.TEST, Phase.LEADERBOARD] == [p.phase for p in result.phases]
    (workload,) = result.phases[1].workloads
    assert "size: 5000; seed: 2" == workload.spec
    assert 20 == len(workload.samples_ns)
    assert workload.checked >= 1
    assert result.score_s == workload.median_ns / 1e9
    assert result.score_ci95_s == tuple(end / 1e9 for end in workload.ci95_ns)


@pytest.mark.exhaustive  # each run has test_a_bad_submission_gets_its_verdict_and_the_next_its_own
def test_a_secret_run_has_a_score_without_a_benchmark(host: Host) -> None:
    result = host.judge(a_job(SORT, mode=Mode.LEADERBOARD, secret=True), quiet)
    assert [Phase.TEST, Phase.LEADERBOARD] == [p.phase for p in result.phases]
    assert result.score_s == result.phases[1].workloads[0].median_ns / 1e9


@pytest.mark.exhaustive  # each run has test_a_bad_submission_gets_its_verdict_and_the_next_its_own
def test_a_secret_run_tells_no_secrets(host: Host) -> None:
    events: list[ProgressEvent] = []
    result = host.judge(a_job(SORT, mode=Mode.BENCHMARK, secret=True), events.append)
    told = json.dumps([to_wire(result), *map(to_wire, events)])
    assert "987654321" not in told
    assert {None} == {event.spec for event in events}


@pytest.mark.exhaustive  # each run has test_a_bad_submission_gets_its_verdict_and_the_next_its_own
def test_remembered_answers_are_wrong_in_timed_calls(host: Host) -> None:
    source = kernel(
        "if data.size not in kept: kept[data.size] = np.sort(data)\nreturn kept[data.size]",
        "kept = {}",
    )
    result = host.judge(a_job(source, mode=Mode.BENCHMARK), quiet)
    assert [Verdict.ACCEPTED, Verdict.WRONG_ANSWER] == [p.verdict for p in result.phases]


@pytest.mark.exhaustive
def test_a_lying_clock_is_caught(host: Host) -> None:
    source = kernel(
        "for _ in range(1000): out = np.sort(data)\nreturn out",
        "import sys, time, types\n"
        "marks = sys.modules['kernelbot.harness.inside.marks.marks']\n"
        "ticks = iter(range(1, 10**9))\n"
        "clock = types.SimpleNamespace(sleep=time.sleep, perf_counter_ns=lambda: next(ticks))\n"
        "marks.time, ours = clock, marks.PythonMarks()\n"
        "marks.NativeMarks.call = lambda _self, *given: ours.call(*given)\n",
    )
    patient = a_problem(timeouts=Timeouts(test_s=60, benchmark_s=60, ranked_s=60))
    result = host.judge(a_job(source, mode=Mode.BENCHMARK, problem=patient), quiet)
    assert Verdict.RULE_VIOLATION == result.verdict
    assert result.failure is not None
    assert "clocks contradict" in result.failure.message


def test_aliases_are_refused_where_the_problem_says_so(host: Host) -> None:
    source = kernel("data.sort(); return data")
    plain = host.judge(a_job(source), quiet)
    fresh = host.judge(a_job(source, problem=a_problem(fresh_output=True)), quiet)
    kept = host.judge(a_job(source, problem=a_problem(inputs_unchanged=True)), quiet)
    assert [Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.WRONG_ANSWER] == [
        plain.verdict,
        fresh.verdict,
        kept.verdict,
    ]


@pytest.mark.exhaustive  # each run has test_a_bad_submission_gets_its_verdict_and_the_next_its_own
@pytest.mark.parametrize("from_size", cases([0, 2000], always=[2000]))
def test_gaps_are_refused_where_the_problem_says_so(host: Host, from_size: int) -> None:
    """In timed calls as in tests: closing them is in no time."""
    body = f"return (-np.sort(-data))[::-1] if data.size >= {from_size} else np.sort(data)"
    asked = replace(a_problem(), contiguous=True)
    jobs = [a_job(kernel(body), mode=Mode.BENCHMARK, problem=one) for one in (a_problem(), asked)]
    plain, refused = (host.judge(job, quiet) for job in jobs)
    assert (Verdict.ACCEPTED, Verdict.WRONG_ANSWER) == (plain.verdict, refused.verdict)
    assert "asks for contiguous arrays" in str(refused.failure)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("return True, ", "raise ValueError('mine') #", "checker failed: ValueError: mine"),
        ("def generate_input", "def generate_output", "could not be loaded"),
        (
            "import numpy as np",
            "import nowhere",
            "'nowhere'. Where submissions are judged, nowhere must be installed",
        ),
        ("return np.random", "import os; os._exit(1); return np.random", "exit code 1"),
        ("standard_normal(size)", "standard_normal(-size)", "generate_input failed"),
    ],
)
def test_a_broken_problem_is_our_fault(host: Host, old: str, new: str, message: str) -> None:
    from tests.harness.jobs import REFERENCE

    problem = a_problem(reference=REFERENCE.replace(old, new))
    result = host.judge(a_job(SORT, problem=problem), quiet)
    assert Verdict.INTERNAL_ERROR == result.verdict
    assert result.failure is not None
    assert Fault.PLATFORM == result.failure.fault
    assert message in result.failure.message


@pytest.mark.parametrize(
    "new", ["return False, 'x' * (1 << 20) #", "raise ValueError('x' * (1 << 20)) #"]
)
def test_what_a_checker_says_is_cut(host: Host, new: str) -> None:
    from tests.harness.jobs import REFERENCE

    problem = a_problem(reference=REFERENCE.replace("return True, ", f"{new} #"))
    result = host.judge(a_job(SORT, problem=problem), quiet)
    assert result.failure is not None
    assert 16 << 10 == len(result.failure.message)


def test_a_profile_comes_as_artifacts(host: Host) -> None:
    result = host.judge(a_job(SORT, mode=Mode.PROFILE), quiet)
    assert Verdict.ACCEPTED == result.verdict
    text, counters, trace = result.artifacts
    assert ("profile.1.txt", "text/plain") == (text.name, text.media_type)
    assert [Verdict.ACCEPTED] == [case.verdict for case in result.phases[-1].cases]
    shown = base64.b64decode(text.content_base64).decode()
    assert "== Counters, per call ==" in shown
    assert "== Framework's profiler, 5 calls ==" in shown
    assert "custom_kernel" in shown
    assert ("profile.1.counters.json", "application/json") == (counters.name, counters.media_type)
    assert ("profile.1.trace.json.gz", "application/gzip") == (trace.name, trace.media_type)


@pytest.mark.exhaustive
def test_torchs_profiler_says_nothing_in_the_authors_place(host: Host) -> None:
    result = host.judge(a_job("import torch\n" + SORT, mode=Mode.PROFILE), quiet)
    assert "profile.1.trace.json.gz" in [artifact.name for artifact in result.artifacts]
    assert "" == result.stderr


def test_a_kernel_that_fails_only_in_the_profile_is_refused(host: Host) -> None:
    source = kernel(
        "calls.append(1)\nif len(calls) > 20: raise ValueError('tired')\nreturn np.sort(data)",
        before="calls = []",
    )
    result = host.judge(a_job(source, mode=Mode.PROFILE), quiet)
    assert (Verdict.RUNTIME_ERROR, Phase.PROFILE) == (result.verdict, result.phases[-1].phase)
    assert result.failure is not None
    assert "ValueError: tired" in result.failure.message


# Each run has test_exit_code_and_streams_come_back (sandbox/test_command.py)
@pytest.mark.exhaustive
def test_processor_time_is_limited_too(host: Host) -> None:
    problem = a_problem(timeouts=Timeouts(test_s=30))
    limits = Limits(cpu_time_s=1.0)
    result = host.judge(a_job(kernel("while True: pass"), problem=problem, limits=limits), quiet)
    assert Verdict.TIME_LIMIT == result.verdict


@pytest.mark.torch
@pytest.mark.exhaustive
def test_an_output_that_requires_a_gradient_is_as_good_as_any(host: Host) -> None:
    reference = (
        "import numpy as np, torch\n"
        "def generate_input(size, seed):\n"
        "    return torch.arange(size, dtype=torch.float32)\n"
        "def ref_kernel(data):\n"
        "    return 2 * data\n"
        "def check_implementation(data, output):\n"
        "    return bool(np.allclose(output.numpy(), 2 * data.numpy()))\n"
    )
    source = "def custom_kernel(data):\n    return data.clone().requires_grad_(True) * 2\n"
    limits = Limits(memory_bytes=2 << 30)
    result = host.judge(a_job(source, problem=a_problem(reference=reference), limits=limits), quiet)
    assert Verdict.ACCEPTED == result.verdict, result.failure


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Two processes that compute without end for each processor."""
    command = ["sh", "-c", "while :; do :; done"]
    hogs = [subprocess.Popen(command) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for hog in hogs:
        hog.kill()
        hog.wait()


def judged_without_groups() -> "subprocess.CompletedProcess[str]":
    """As an ordinary user judges whose system lets them make no control group, and raise no
    priority."""
    folder = Path(__file__).parents[3] / "examples" / "sort_np"
    command = [sys.executable, "-m", "kernelbot", "run", "--cold", str(folder)]
    command.append(f"{folder}/submission.py")
    hidden = "mount -t tmpfs none /sys/fs/cgroup && exec setpriv "
    hidden += '--bounding-set=-sys_nice --inh-caps=-sys_nice "$@"'
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", hidden, "sh", *command, "--mode", "leaderboard"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.exhaustive
@pytest.mark.timed
@pytest.mark.skipif(os.geteuid() != 0, reason="hiding the control groups takes root")
def test_honest_code_is_accepted_where_nothing_can_be_frozen() -> None:
    ended = judged_without_groups()
    assert (0, True) == (ended.returncode, "accepted: sort_np" in ended.stdout), ended.stdout


@pytest.mark.timed
@pytest.mark.usefixtures("busy_machine")
@pytest.mark.skipif(os.geteuid() != 0, reason="hiding the control groups takes root")
@pytest.mark.exhaustive
def test_a_judge_that_waits_for_a_processor_blames_nobody() -> None:
    ended = judged_without_groups()
    assert (0, True) == (ended.returncode, "accepted: sort_np" in ended.stdout), ended.stdout


@pytest.mark.exhaustive  # each run has test_a_bad_submission_gets_its_verdict_and_the_next_its_own
@pytest.mark.parametrize("sandbox", SandboxMode)
def test_a_signal_to_ones_own_group_reaches_nobody_else(host: Host, sandbox: SandboxMode) -> None:
    source = kernel("import os, signal\nos.killpg(0, signal.SIGTERM)\nreturn np.sort(data)")
    result = host.attempt(replace(a_job(source), sandbox=sandbox), quiet)
    assert result.failure is not None
    assert (Verdict.RUNTIME_ERROR, True) == (result.verdict, "SIGTERM" in result.failure.message)
