"""The app that runs on Modal: one function per device, each of which runs the harness on one job.

Deploy it from an installation of KernelBot, after each update of it, with the account's token:

    modal deploy deploy/modal/app.py

KERNELBOT_MODAL_APP (default kernelbot) names the app, KERNELBOT_MODAL_TIMEOUT_S (default 3600) says
after how long Modal kills a call, and KERNELBOT_MODAL_WARM_IDLE_S how long a container waits for
the next one (default: as Modal has it); the platform's launcher must be told the same. See
docs/how-to/modal.md.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import modal
import modal.exception

NAME = os.environ.get("KERNELBOT_MODAL_APP", "kernelbot")
TIMEOUT_S = int(os.environ.get("KERNELBOT_MODAL_TIMEOUT_S", "3600"))
WARM_IDLE_S = int(os.environ.get("KERNELBOT_MODAL_WARM_IDLE_S", "0"))
CUDA = "nvidia/cuda:12.8.1-devel-ubuntu24.04"
CUTLASS = "v4.2.1"
HARNESS = "/opt/kernelbot/kernelbot-harness.pyz"
EVENTS_URL = "KERNELBOT_EVENTS_URL"
MAX_RESULT_BYTES = 128 << 20
LOG_CHARACTERS = 2000

Answer = dict[str, Any]
Run = Callable[[list[str], bytes, dict[str, str]], tuple[int, bytes]]


class Entries(Protocol):
    """What of a Dict is used: by attempt, the call that judges it and how far that is."""

    def get(self, key: str) -> Any:
        """None: there is none."""

    def put(self, key: str, value: str, *, skip_if_exists: bool = False) -> bool:
        """False: it was there, and stays as it was."""


def _run(command: list[str], payload: bytes, environment: dict[str, str]) -> tuple[int, bytes]:
    """The exit code, and all that was said."""
    ended = subprocess.run(
        command,
        input=payload,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        check=False,
    )
    return ended.returncode, ended.stdout


@dataclass(frozen=True)
class Job:
    """What a call is given: what judges it is the harness's matter."""

    attempt: str
    payload: str
    events_url: str
    """Empty: nobody is told about progress."""
    no_sandbox_ok: bool
    warm_idle_s: float = 0.0
    """How long the harness's host waits for the next call in this container; 0: each has its
    own."""
    warm_limit_s: float = 0.0
    """After this time such a host takes no more jobs."""


@dataclass(frozen=True)
class Place:
    """Where one call runs."""

    entries: Entries
    call_id: str
    harness: str = HARNESS
    python: str = "python3"
    folder: Path = Path(tempfile.gettempdir()) / "kernelbot"
    run: Run = _run


def judge(job: Job, place: Place) -> Answer:
    """What the harness makes of the job: `result`, the bytes of its result.json; or `code` and
    `log` if there is none; or `doubled`, if another call judges this attempt."""
    attempt = job.attempt
    if not _is_ours(attempt, place):
        return {"doubled": True}
    try:
        return _judged(job, place)
    except Exception as error:  # noqa: BLE001 (it is told; raised, the caller would unpickle it)
        return {"code": "none", "log": f"{type(error).__name__}: {error}"}
    finally:
        _say_done(attempt, place)


def _is_ours(attempt: str, place: Place) -> bool:
    """Whether this call is the one that judges the attempt: the first that was written down. Modal
    starts a call again whose machine it has lost; that is ours, too."""
    begun = f"{place.call_id} begun"
    if place.entries.put(attempt, begun, skip_if_exists=True):
        return True
    known = place.entries.get(attempt)
    if known is None or known.split()[0] != place.call_id:
        return False
    place.entries.put(attempt, begun)
    return True


def _say_done(attempt: str, place: Place) -> None:
    """Calls that don't say it are asked for their answer in turn."""
    try:
        if place.entries.get(attempt) is not None:  # else nobody waits for it any more
            place.entries.put(attempt, f"{place.call_id} done")
    except modal.exception.Error as error:  # somebody may have deleted the Dict
        print(f"it can't be said that {attempt} is done: {error}", file=sys.stderr)


def _judged(job: Job, place: Place) -> Answer:
    """The payload travels on standard input, and the link for progress in a variable: the harness
    wipes both before it starts anything of the author's."""
    folder = place.folder / job.attempt
    folder.mkdir(parents=True, exist_ok=True)
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    command = [place.python, "-I", place.harness, "node", "--payload", "-", "--result", str(result)]
    command += ["--events-url-env", EVENTS_URL, *_flags(job, place)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MODAL")}
    code, said = place.run(command, job.payload.encode(), {**kept, EVENTS_URL: job.events_url})
    log = said.decode("utf-8", "replace")[-LOG_CHARACTERS:]
    try:
        size = result.stat().st_size
        if size > MAX_RESULT_BYTES:
            return {"code": code, "log": f"its result has more than {MAX_RESULT_BYTES >> 20} MiB"}
        return {"result": result.read_bytes()}
    except FileNotFoundError:
        return {"code": code, "log": log}
    finally:
        result.unlink(missing_ok=True)


def _flags(job: Job, place: Place) -> list[str]:
    flags = ["--no-sandbox-ok"] if job.no_sandbox_ok else []
    if job.warm_idle_s > 0:
        flags += ["--warm", str(place.folder / "warm"), "--warm-idle-s", str(job.warm_idle_s)]
        flags += ["--warm-limit-s", str(job.warm_limit_s)]
        flags += ["--build-cache", str(place.folder / "builds")]
    return flags


def _image() -> modal.Image:
    """CUDA's compiler, torch, ninja and CUTLASS' headers, and the sandbox. In a container this is
    read again, where KernelBot isn't installed and the image is there already."""
    image = (
        modal.Image.from_registry(CUDA, add_python="3.12")
        .apt_install("git", "g++", "bubblewrap", "ca-certificates")
        .pip_install("torch==2.9.1", "triton", "numpy", "ninja")
        .run_commands(
            f"git clone --depth 1 --branch {CUTLASS} https://github.com/NVIDIA/cutlass /opt/cutlass"
        )
    )
    if not modal.is_local():
        return image
    from kernelbot.harness.archive import build

    harness = build(Path(__file__).resolve().parents[2] / "dist" / "kernelbot-harness.pyz")
    return image.add_local_file(str(harness), HARNESS)


app = modal.App(NAME)
ENTRIES = modal.Dict.from_name(f"{NAME}-attempts", create_if_missing=True)
COMMON: dict[str, Any] = {
    "image": _image(),
    "timeout": TIMEOUT_S,
    "retries": 0,
    "cpu": 8.0,
    "memory": 32 << 10,
    "_experimental_restrict_output": True,  # CBOR: nothing that a container returns is unpickled
    **({"scaledown_window": WARM_IDLE_S} if WARM_IDLE_S else {}),
}


def _here(*given: Any) -> Answer:
    """`given`: the fields of `Job`, in order; of its last two a launcher may give none."""
    return judge(Job(*given), Place(ENTRIES, modal.current_function_call_id() or ""))


@app.function(**COMMON)
def judge_cpu(*given: Any) -> Answer:
    """Of the device CPU, to prove an account without a GPU."""
    return _here(*given)


@app.function(gpu="T4", **COMMON)
def judge_t4(*given: Any) -> Answer:
    """Of the device T4."""
    return _here(*given)


@app.function(gpu="L4", **COMMON)
def judge_l4(*given: Any) -> Answer:
    """Of the device L4."""
    return _here(*given)


@app.function(gpu="L4:4", **COMMON)
def judge_l4x4(*given: Any) -> Answer:
    """Of the device L4x4, four GPUs."""
    return _here(*given)


@app.function(gpu="A100-80GB", **COMMON)
def judge_a100(*given: Any) -> Answer:
    """Of the device A100, with 80 GB."""
    return _here(*given)


@app.function(gpu="H100!", **COMMON)
def judge_h100(*given: Any) -> Answer:
    """Of the device H100; `!`: never a better one instead."""
    return _here(*given)


@app.function(gpu="B200", **COMMON)
def judge_b200(*given: Any) -> Answer:
    """Of the device B200."""
    return _here(*given)
