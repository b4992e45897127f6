"""What each of the harness's commands does, but for one job on a node. The parser is in `cli`."""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import IO, NoReturn

from kernelbot.harness.gpu.lock import WAIT_S, GpuLocks
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.job_folder import read_job
from kernelbot.harness.host.pool import PoolKey, flavour_of
from kernelbot.harness.host.server import Server, serve_shared
from kernelbot.harness.timing.turns import Turns
from kernelbot.harness.words.sandbox import Flavour
from kernelbot.protocol import (
    ProgressEvent,
    SandboxMode,
    Vendor,
    VersionMismatch,
    WireError,
    to_wire,
)
from kernelbot.protocol.process_names import ProcessName, name_process

EXIT_NOT_FIT = 1
EXIT_BAD_JOB = 2
EXIT_OTHER_VERSION = 3
EXIT_NOT_MINIMAL = 4


def _run_one(arguments: argparse.Namespace) -> int:
    events: IO[str] | None = None
    if arguments.events_fd is not None:
        events = os.fdopen(arguments.events_fd, "w", buffering=1)
    try:
        job = read_job(sys.stdin.buffer.read())
    except VersionMismatch as error:
        print(error, file=sys.stderr)
        return EXIT_OTHER_VERSION
    except WireError as error:
        print(f"The job can't be read: {error}", file=sys.stderr)
        return EXIT_BAD_JOB

    def emit(event: ProgressEvent) -> None:
        if events is not None:
            print(json.dumps(to_wire(event)), file=events)

    host = Host(build_cache=arguments.build_cache, lasting=False)
    try:
        result = host.judge(job, emit)
    finally:
        host.close()
    print(json.dumps(to_wire(result)))
    return 0


def _host(arguments: argparse.Namespace) -> int:
    name_process(ProcessName.HOST, keep_command=True)
    # Jobs of this machine's own host take turns; on a scheduler's node nobody else has its GPUs.
    wait_s = WAIT_S if arguments.jobs else math.inf
    host = Host(
        slots=arguments.slots,
        build_cache=arguments.build_cache,
        reserved_cores=arguments.reserved_cores,
        gpus=GpuLocks(arguments.gpus, wait_s=wait_s),
        turns=Turns(name="") if arguments.no_turns else None,
    )
    if arguments.jobs:
        return _serve_shared(host, arguments)
    vendor = Vendor(arguments.vendor)
    for name in filter(None, arguments.warm.split(",")):
        host.warm(_usual_key(Flavour(name), vendor, arguments))
    Server(host, arguments.slots, arguments.no_sandbox_ok).serve()
    return 0


def _serve_shared(host: Host, arguments: argparse.Namespace) -> NoReturn:
    from kernelbot.harness.host.shared_jobs import SharedJobs

    jobs = SharedJobs(
        arguments.jobs,
        arguments.needs,
        arguments.node,
        arguments.idle_s,
        arguments.limit_s,
        arguments.ask_left,
    )
    serve_shared(host, jobs, no_sandbox_ok=arguments.no_sandbox_ok)


def _usual_key(flavour: Flavour, vendor: Vendor, arguments: argparse.Namespace) -> PoolKey:
    """That of a job of one GPU."""
    return PoolKey(
        flavour,
        vendor,
        SandboxMode.REQUIRED,
        arguments.arch,
        include_dirs=tuple(arguments.include_dir),
        gpus=None if vendor is Vendor.CPU else 1,
    )


def _try_problem(_arguments: argparse.Namespace) -> int:
    from kernelbot.harness.inside.preload import preload
    from kernelbot.harness.judge.problem.trial import try_problem

    job = read_job(sys.stdin.buffer.read())
    answers = os.dup(1)
    os.dup2(2, 1)  # what the problem's own code prints is no part of the answer
    flavour, on_cpu = flavour_of(job), job.device.vendor is Vendor.CPU
    preload(flavour, on_cpu and flavour is Flavour.TORCH)
    troubles = [asdict(trouble) for trouble in try_problem(job.problem)]
    with os.fdopen(answers, "w") as stream:
        json.dump(troubles, stream)
    return 0


def _minimal(arguments: argparse.Namespace) -> int:
    """4: a payload of another kind, left to others."""
    from kernelbot.harness.host.minimal_payload import BadPayload, NotMinimal, decode, minimal_job

    try:
        job = minimal_job(decode(arguments.payload.read_bytes()))
    except NotMinimal:
        return EXIT_NOT_MINIMAL
    except BadPayload as error:
        print(error, file=sys.stderr)
        return EXIT_BAD_JOB
    host = Host(lasting=False)
    try:
        result = host.judge(job, lambda _event: None)
    finally:
        host.close()
    partial = arguments.result.with_name(arguments.result.name + ".part")
    partial.write_text(json.dumps(to_wire(result)))
    partial.rename(arguments.result)
    print(result.stdout, end="")
    print(result.stderr, end="", file=sys.stderr)
    why = f": {result.failure.message}" if result.failure else ""
    print(f"{result.verdict}{why} ({arguments.result})", file=sys.stderr)
    return 0


def _doctor(_arguments: argparse.Namespace) -> int:
    from kernelbot.harness.host.doctor import examine

    print(json.dumps(examine(), indent=2))
    return 0


def _vendor_check(arguments: argparse.Namespace) -> int:
    from kernelbot.harness.host.vendor.check import WantedNode, examine_node

    vendor = Vendor(arguments.gpu) if arguments.gpu else None
    report = examine_node(WantedNode(vendor, arguments.count, not arguments.leave_clocks))
    print(json.dumps(report, indent=2))
    return 0 if report["ok"] else EXIT_NOT_FIT


def _warm(arguments: argparse.Namespace) -> int:
    name_process(ProcessName.HOST, keep_command=True)
    from kernelbot.harness.host.warm.server import Life, serve_warm

    host = Host(
        slots=arguments.slots or 1,
        build_cache=arguments.build_cache,
        reserved_cores=arguments.reserved_cores,
        # Unless told otherwise for ever: its jobs may be cancelled, and take turns.
        gpus=GpuLocks(arguments.gpus, arguments.locks, arguments.lock_wait_s),
        ahead=1,  # the next job may come while one is stopped
    )
    life = Life(arguments.idle_s, arguments.limit_s, arguments.slots)
    return serve_warm(host, arguments.folder, arguments.name, life)


def _judges(arguments: argparse.Namespace) -> int:
    from kernelbot.harness.host.judge_zygote import run_zygote

    run_zygote(
        arguments.control_fd,
        arguments.runners_fd,
        arguments.flavour,
        arguments.spare,
        bool(arguments.lasting),
        Vendor(arguments.vendor),
    )
    return 0


COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "run": _run_one,
    "host": _host,
    "doctor": _doctor,
    "try-problem": _try_problem,
    "judges": _judges,
    "warm": _warm,
    "minimal": _minimal,
    "vendor-check": _vendor_check,
}
