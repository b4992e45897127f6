"""How a job's runners are talked to: one alone, or as many as there are ranks."""

from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.judge.calls.callers import Caller
from kernelbot.harness.judge.calls.gpu_caller import GpuCaller
from kernelbot.harness.judge.calls.in_place_caller import InPlaceCaller
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.words.plan import Plan
from kernelbot.protocol import Case
from kernelbot.protocol.phases import world_size


def open_session(
    plan: Plan,
    client: RunnerClient,
    modules: frozenset[str],
    deadline: float,
    first: Case,
    devices: tuple[JudgeDevice, ...] = (),
) -> Session:
    """A session for the job; `first` is the case that it begins with, `devices` the judge's.

    Raises `SandboxUnavailable`.
    """
    ranks = world_size(first) if plan.has_ranks else None
    return Session(client, plan.job.limits, modules, deadline, devices, ranks)


def expect_sessions(plan: Plan, client: RunnerClient, count: int) -> None:
    """So many sessions will soon be opened: let their runners move in meanwhile.

    Not of several ranks, whose number depends on the case. Raises `SandboxUnavailable`.
    """
    if not plan.has_ranks:
        client.prepare(count)


def caller_of(plan: Plan, session: Session) -> Caller:
    """How timed calls are made on the job's device."""
    made = GpuCaller if plan.on_gpu else InPlaceCaller
    return made(session, compares_inputs=plan.job.problem.inputs_unchanged)
