"""A harness on a node that takes real payloads and judges nothing.

The submission's first line says what happens, as for `tests.fakes.host`: `[sleep S] VERDICT`,
`until FILE VERDICT`, `die`, `garbage`; and `huge` (a result of 2 GB), `another` (of another job),
`lie` (accepted without a phase), `newer` (of another version), `silent` (the end without a result).
What a job was given stands in its result's notes.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from kernelbot.harness.host.cancellation import Cancellation
from kernelbot.harness.host.shared_jobs import SharedJobs
from kernelbot.protocol import (
    EventKind,
    JobSpec,
    ProgressEvent,
    decode_payload,
    from_wire,
    to_wire,
)
from tests.fakes.host import content_of, result_of, words_of

HUGE_BYTES = 2 << 30
EXIT_NOT_MINIMAL = 4


def main() -> None:
    """Act as told, and exit."""
    arguments = _arguments()
    if arguments.command == "minimal":
        sys.exit(EXIT_NOT_MINIMAL)
    if arguments.command == "host":
        _serve(arguments)
        return
    job = decode_payload(_payload(arguments))
    beside = arguments.result.parent.parent / "judged.log"
    with Path(os.environ.get("FAKE_JUDGED_LOG", beside)).open("a") as log:
        log.write(job.job_id + "\n")
    _tell(arguments)
    words = words_of(job)
    if words[0] == "sleep":
        time.sleep(float(words[1]))
        words = words[2:]
    elif words[0] == "until":
        while not Path(words[1]).exists():
            time.sleep(0.02)
        words = words[2:]
    if words[0] == "die":
        os._exit(9)
    if words[0] != "silent":
        _write(arguments.result, words, job, arguments.gpus)


def _serve(arguments: argparse.Namespace) -> None:
    """Jobs in turn, taken as the real harness takes them."""
    jobs = SharedJobs(
        arguments.jobs,
        arguments.needs,
        arguments.node,
        arguments.idle_s,
        arguments.limit_s,
        arguments.ask_left,
    )

    def judge(folder: Path, cancelled: Cancellation) -> str:
        job = from_wire(JobSpec, json.loads((folder / "jobspec.json").read_text()))
        os.truncate(folder / "jobspec.json", 0)
        with (folder.parent / "judged.log").open("a") as log:
            log.write(job.job_id + "\n")
        words = words_of(job)
        if words[0] == "die":
            os._exit(9)
        if words[0] in ("sleep", "until"):
            end_s = time.monotonic() + (float(words[1]) if words[0] == "sleep" else 600.0)
            while time.monotonic() < end_s and not Path(words[1]).exists():
                if cancelled.is_set():
                    return "cancelled"
                time.sleep(0.02)
            words = words[2:]
        if words[0] == "silent":
            return "it said nothing"
        _write(folder / "result.json", words, job, f"{arguments.gpus} of {arguments.node}")
        return ""

    jobs.serve(judge)


def _payload(arguments: argparse.Namespace) -> bytes:
    if arguments.payload_url_env:
        import urllib.request  # which takes longer than all the rest

        with urllib.request.urlopen(os.environ[arguments.payload_url_env]) as answer:
            content: bytes = answer.read()
        return content
    if arguments.payload == "-":
        return sys.stdin.buffer.read()
    file = Path(arguments.payload)
    content = file.read_bytes()
    file.unlink()
    return content


def _tell(arguments: argparse.Namespace) -> None:
    """That it has begun, if anybody listens."""
    if url := os.environ.get(arguments.events_url_env or ""):
        import urllib.request

        event = json.dumps(to_wire(ProgressEvent(EventKind.STARTED))) + "\n"
        urllib.request.urlopen(url, data=event.encode()).close()


def _write(result: Path, words: list[str], job: JobSpec, gpus: str) -> None:
    draft = result.with_suffix(".new")
    with draft.open("w") as file:
        if words[0] == "huge":
            file.truncate(HUGE_BYTES)
        else:
            file.write(_content(words, job, gpus))
    draft.rename(result)


def _content(words: list[str], job: JobSpec, gpus: str) -> str:
    if words[0] == "garbage":
        return "<html>502 Bad Gateway</html>"
    if words[0] == "long":
        return content_of(job, words)
    verdict = ["accepted"] if words[0] in ("another", "newer", "lie") else words
    result = result_of(job, verdict)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    result = replace(result, system=replace(result.system, notes=(f"{visible};{gpus}",)))
    if words[0] == "lie":
        result = replace(result, phases=())
    if words[0] == "another":
        result = replace(result, job_id="8.1.0123456789ab")
    return json.dumps({**to_wire(result), **({"version": 99} if words[0] == "newer" else {})})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["node", "minimal", "host"])
    payload = parser.add_mutually_exclusive_group()
    payload.add_argument("--payload")
    payload.add_argument("--payload-url-env")
    parser.add_argument("--result", type=Path)
    # A host that stays is the real harness's: this one judges nothing, and so gains nothing.
    for name in ("--warm", "--warm-idle-s", "--warm-limit-s"):
        parser.add_argument(name)
    for name in ("--needs", "--node", "--ask-left", "--build-cache"):
        parser.add_argument(name)
    parser.add_argument("--jobs", type=Path)
    for name in ("--idle-s", "--limit-s"):
        parser.add_argument(name, type=float)
    parser.add_argument("--events", type=Path)
    parser.add_argument("--events-url-env")
    parser.add_argument("--gpus", default="")
    parser.add_argument("--no-sandbox-ok", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
