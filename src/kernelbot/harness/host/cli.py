"""The harness's command line: one job, one on a scheduler's node, a host of many, the doctor."""

import argparse
import json
import math
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import IO, NoReturn

from kernelbot.harness.gpu.lock import WAIT_S, GpuLocks
from kernelbot.harness.host.host import Host, PoolKey, flavour_of
from kernelbot.harness.host.job_folder import read_job
from kernelbot.harness.host.processors import RESERVED_CORES
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
from kernelbot.protocol.garbage import ending
from kernelbot.protocol.process_names import ProcessName, name_process

EXIT_NOT_FIT = 1
EXIT_BAD_JOB = 2
EXIT_OTHER_VERSION = 3
EXIT_NOT_MINIMAL = 4


def main(argv: list[str] | None = None) -> None:
    """Parse and run. Exits with 0 if a result was written, 2 for a bad job, 3 for a version."""
    arguments = _parser().parse_args(argv)
    commands = {
        "run": _run_one,
        "host": _host,
        "doctor": _doctor,
        "try-problem": _try_problem,
        "judges": _judges,
        "warm": _warm,
        "minimal": _minimal,
        "vendor-check": _vendor_check,
        "node": _node,
    }
    try:
        sys.exit(commands[arguments.command or "run"](arguments))
    finally:
        ending()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kernelbot-harness",
        description="Judge one job: a JobSpec on stdin, a RunResult on stdout.",
    )
    parser.add_argument("--events-fd", type=int, help="descriptor for progress, as JSON lines")
    parser.add_argument("--build-cache", type=Path, help="folder that keeps compiled submissions")
    commands = parser.add_subparsers(dest="command")
    host = commands.add_parser("host", help="judge many jobs, asked for in JSON lines on stdin")
    host.add_argument("--warm", default="", help="what to load ahead of need: numpy,torch")
    host.add_argument("--vendor", default="cpu", choices=[vendor.value for vendor in Vendor])
    host.add_argument(
        "--include-dir",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder with headers, one of the device's include_dirs",
    )
    host.add_argument("--arch", metavar="ARCH", help="of the device, as nvcc names it, such as 90a")
    host.add_argument("--slots", type=int, default=1, help="jobs judged at the same time")
    host.add_argument(
        "--reserved-cores",
        type=int,
        default=RESERVED_CORES,
        help="cores that CPU submissions may not use, left to the judge",
    )
    host.add_argument(
        "--no-turns", action="store_true", help="measure beside others on this machine"
    )
    host.add_argument("--no-sandbox-ok", action="store_true", help="allow jobs without a sandbox")
    host.add_argument("--build-cache", type=Path, default=argparse.SUPPRESS)
    _add_shared(host.add_argument_group("jobs out of a folder that nodes share, not from stdin"))
    commands.add_parser("doctor", help="say what is in force here, as JSON")
    commands.add_parser(
        "try-problem", help="try a job's problem by itself: a JobSpec on stdin, troubles on stdout"
    )
    minimal = commands.add_parser(
        "minimal", help="run a payload that is only a program to start, to try an image by hand"
    )
    minimal.add_argument("--payload", type=Path, required=True, help="file with the payload")
    minimal.add_argument("--result", type=Path, required=True, help="file for the RunResult")
    check = commands.add_parser(
        "vendor-check", help="examine this node before its first job, as JSON; 1: not fit"
    )
    makers = [vendor.value for vendor in Vendor]
    check.add_argument("--gpu", choices=makers, help="whose must be here; cpu: none")
    check.add_argument("--count", type=int, default=1, help="how many of them one job gets")
    check.add_argument("--leave-clocks", action="store_true", help="don't try to lock them")
    _add_node(commands.add_parser("node", help="judge one job on a scheduler's node"))
    warm = commands.add_parser("warm", help="(internal) a host for the jobs of `kernelbot run`")
    warm.add_argument("folder", type=Path)
    warm.add_argument("name")
    warm.add_argument("--idle-s", type=float, required=True)
    warm.add_argument("--build-cache", type=Path, default=argparse.SUPPRESS)
    judges = commands.add_parser("judges", help="(internal) the judges' zygote")
    judges.add_argument("control_fd", type=int)
    judges.add_argument("runners_fd", type=int)
    judges.add_argument("flavour")
    judges.add_argument("cuda_on_cpu", type=int)
    judges.add_argument("spare", type=int)
    judges.add_argument("lasting", type=int)
    judges.add_argument("vendor")
    return parser


def _add_shared(host: argparse._ArgumentGroup) -> None:
    host.add_argument("--jobs", type=Path, metavar="FOLDER", help="the folder")
    host.add_argument("--needs", default="", help="of which of its jobs")
    host.add_argument("--node", default="", metavar="NAME", help="this node's, of its own")
    host.add_argument("--idle-s", type=float, default=0.0, help="how long to wait for the next")
    host.add_argument("--limit-s", type=float, default=math.inf, help="when the last has to end")
    host.add_argument("--ask-left", default="", help="a command that says how many seconds remain")
    host.add_argument("--gpus", help="which GPUs are ours, as the machine numbers them: 0,1")


def _add_node(node: argparse.ArgumentParser) -> None:
    payload = node.add_mutually_exclusive_group(required=True)
    payload.add_argument("--payload", help="file with the job, which is removed; - for stdin")
    payload.add_argument("--payload-env", help="variable with the job, which is wiped")
    payload.add_argument(
        "--payload-url-env", help="variable with a link to the job, which is wiped"
    )
    node.add_argument("--result", type=Path, required=True, help="file for the result")
    events = node.add_mutually_exclusive_group()
    events.add_argument("--events", type=Path, help="file for progress, as JSON lines")
    events.add_argument(
        "--events-url-env", help="variable with a link for progress, which is wiped; may be missing"
    )
    node.add_argument("--gpus", help="which GPUs are ours, as the machine numbers them: 0,1")
    node.add_argument("--locks", type=Path, help="folder of the GPUs' locks on this machine")
    node.add_argument("--reserved-cores", type=int, default=RESERVED_CORES)
    node.add_argument("--no-sandbox-ok", action="store_true", help="allow jobs without a sandbox")
    node.add_argument("--build-cache", type=Path, default=argparse.SUPPRESS)


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
        gpus=GpuLocks(_names(arguments.gpus), wait_s=wait_s),
        turns=Turns(name="") if arguments.no_turns else None,
    )
    if arguments.jobs:
        return _serve_shared(host, arguments)
    vendor = Vendor(arguments.vendor)
    for name in filter(None, arguments.warm.split(",")):
        host.warm(_usual_key(Flavour(name), vendor, arguments))
    Server(host, arguments.slots, arguments.no_sandbox_ok).serve()
    return 0


def _names(gpus: str | None) -> tuple[str, ...] | None:
    return tuple(filter(None, gpus.split(","))) if gpus else None


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
    preload(flavour, on_cpu and flavour is Flavour.TORCH, strangers=True)
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
    from kernelbot.harness.host.vendor.check import Wanted, examine_node

    vendor = Vendor(arguments.gpu) if arguments.gpu else None
    report = examine_node(Wanted(vendor, arguments.count, not arguments.leave_clocks))
    print(json.dumps(report, indent=2))
    return 0 if report["ok"] else EXIT_NOT_FIT


def _node(arguments: argparse.Namespace) -> int:
    """What needs no link loads nothing of HTTP: that takes a tenth of a second."""
    name_process(ProcessName.NODE, keep_command=True)
    from kernelbot.harness.host import node

    payload: node.PayloadSource = node.FilePayload(arguments.payload)
    sink: node.EventSink = node.NoSink()
    if arguments.payload_env:
        payload = node.EnvironmentPayload(arguments.payload_env)
    if arguments.payload_url_env:
        from kernelbot.harness.host.node_links import LinkPayload

        payload = LinkPayload(arguments.payload_url_env)
    if arguments.events:
        sink = node.FileSink(arguments.events)
    if arguments.events_url_env:
        from kernelbot.harness.host.node_links import link_sink

        sink = link_sink(arguments.events_url_env, arguments.reserved_cores)
    return node.run_node(
        payload,
        sink,
        node.NodeOptions(
            result=arguments.result,
            gpus=_names(arguments.gpus),
            locks=arguments.locks,
            build_cache=arguments.build_cache,
            reserved_cores=arguments.reserved_cores,
            no_sandbox_ok=arguments.no_sandbox_ok,
        ),
    )


def _warm(arguments: argparse.Namespace) -> int:
    name_process(ProcessName.HOST, keep_command=True)
    from kernelbot.harness.host.warm.server import serve_warm

    gpus = GpuLocks(wait_s=math.inf)  # its jobs may be cancelled, and take turns
    # The next job may come while one is stopped.
    host = Host(build_cache=arguments.build_cache, gpus=gpus, ahead=1)
    return serve_warm(host, arguments.folder, arguments.name, arguments.idle_s)


def _judges(arguments: argparse.Namespace) -> int:
    from kernelbot.harness.host.judge_zygote import run_zygote

    run_zygote(
        arguments.control_fd,
        arguments.runners_fd,
        arguments.flavour,
        bool(arguments.cuda_on_cpu),
        arguments.spare,
        bool(arguments.lasting),
        Vendor(arguments.vendor),
    )
    return 0
