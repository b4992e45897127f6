"""The harness's command line: one job, a host of many, or the doctor."""

import argparse
import json
import os
import sys
from typing import IO, Any

from kernelbot.harness.host import Host
from kernelbot.protocol import (
    JobSpec,
    ProgressEvent,
    VersionMismatch,
    WireError,
    from_wire,
    to_wire,
)

EXIT_BAD_JOB = 2
EXIT_OTHER_VERSION = 3


def main(argv: list[str] | None = None) -> None:
    """Parse and run. Exits with 0 where a result was written, 2 on a bad job, 3 on our fault."""
    arguments = _parser().parse_args(argv)
    command = {"run": _run_one, "judges": _judges}[arguments.command or "run"]
    sys.exit(command(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kernelbot-harness",
        description="Judge one job: a JobSpec on stdin, a RunResult on stdout.",
    )
    parser.set_defaults(command="run")
    parser.add_argument("--events-fd", type=int, help="descriptor for progress, as JSON lines")
    commands = parser.add_subparsers(dest="command")
    judges = commands.add_parser("judges")
    judges.add_argument("control_fd", type=int)
    judges.add_argument("flavour")
    judges.add_argument("cuda_on_cpu", type=int)
    return parser


def read_job(text: str | bytes) -> JobSpec:
    """Parse a JobSpec. Raises `VersionMismatch` or `WireError`."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from error
    return from_wire(JobSpec, value)


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

    host = Host(spare=1)
    try:
        result = host.judge(job, emit)
    finally:
        host.close()
    print(json.dumps(to_wire(result)))
    return 0


def _judges(arguments: argparse.Namespace) -> int:
    from kernelbot.harness.judges import run_zygote

    run_zygote(arguments.control_fd, arguments.flavour, bool(arguments.cuda_on_cpu))
    return 0
