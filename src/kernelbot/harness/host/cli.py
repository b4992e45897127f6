"""The harness's command line: one job, one on a scheduler's node, a host of many, the doctor."""

import argparse
import math
import sys
from pathlib import Path

from kernelbot.harness.host.processors import RESERVED_CORES
from kernelbot.protocol import Vendor
from kernelbot.protocol.garbage import ending

_NODE = "node"


def main(argv: list[str] | None = None) -> None:
    """Parse and run. Exits with 0 if a result was written, 2 for a bad job, 3 for a version."""
    arguments = _parser().parse_args(argv)
    try:
        sys.exit(_run(arguments))
    finally:
        ending()


def _run(arguments: argparse.Namespace) -> int:
    """Loads only what the command needs."""
    if arguments.command == _NODE:
        from kernelbot.harness.host.node_command import judge_one

        return judge_one(arguments)
    from kernelbot.harness.host.commands import COMMANDS

    return COMMANDS[arguments.command or "run"](arguments)


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
    _add_node(commands.add_parser(_NODE, help="judge one job on a scheduler's node"))
    _add_warm(commands.add_parser("warm", help="(internal) a host that stays for the next jobs"))
    judges = commands.add_parser("judges", help="(internal) the judges' zygote")
    judges.add_argument("control_fd", type=int)
    judges.add_argument("runners_fd", type=int)
    judges.add_argument("flavour")
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
    host.add_argument(
        "--gpus", type=_names, help="which GPUs are ours, as the machine numbers them: 0,1"
    )


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
    node.add_argument(
        "--gpus", type=_names, help="which GPUs are ours, as the machine numbers them: 0,1"
    )
    node.add_argument("--locks", type=Path, help="folder of the GPUs' locks on this machine")
    node.add_argument("--reserved-cores", type=int, default=RESERVED_CORES)
    node.add_argument("--no-sandbox-ok", action="store_true", help="allow jobs without a sandbox")
    node.add_argument("--build-cache", type=Path, default=argparse.SUPPRESS)
    warm = node.add_argument_group("a host that stays for the next job on this node")
    warm.add_argument("--warm", type=Path, metavar="FOLDER", help="where it is found; ours alone")
    warm.add_argument("--warm-idle-s", type=float, default=60.0, help="how long it waits for jobs")
    warm.add_argument(
        "--warm-limit-s", type=float, default=3600.0, help="after this time it takes no more jobs"
    )


def _add_warm(warm: argparse.ArgumentParser) -> None:
    warm.add_argument("folder", type=Path)
    warm.add_argument("name")
    warm.add_argument("--idle-s", type=float, required=True)
    warm.add_argument("--limit-s", type=float, default=math.inf)
    warm.add_argument("--build-cache", type=Path, default=argparse.SUPPRESS)
    warm.add_argument("--gpus", type=_names)
    warm.add_argument("--locks", type=Path)
    warm.add_argument(
        "--slots", type=int, default=0, help="jobs at the same time; 0: one, in turn with others'"
    )
    warm.add_argument("--lock-wait-s", type=float, default=math.inf)
    warm.add_argument("--reserved-cores", type=int, default=RESERVED_CORES)


def _names(gpus: str) -> tuple[str, ...] | None:
    """None: those that this process may see."""
    return tuple(filter(None, gpus.split(","))) or None
