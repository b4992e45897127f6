#!/usr/bin/env python3
"""Judges one job: the step of a workflow run on a self-hosted runner, with Python 3.11 alone.

The run's inputs are in the event file that the runner keeps beside every step. They hold what the
author must not see, so that file is emptied before anything else happens; the harness gets the job
on its standard input, or a link to it in a variable that it wipes. The harness itself comes from
the platform, by its hash, and is kept on the runner; without a link it is built from this checkout.
"""

import compileall
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

OUT = Path("out")
"""In the workspace; `result.json` in it becomes the run's artifact."""
PAYLOAD_URL = "KERNELBOT_PAYLOAD_URL"
EVENTS_URL = "KERNELBOT_EVENTS_URL"
MAX_HARNESS_BYTES = 64 << 20
TRIES = 4
TIMEOUT_S = 30.0
KEPT_S = 30 * 24 * 3600.0
"""Harnesses that haven't been used for longer are removed."""


def main() -> None:
    """Become the harness; its exit code is the step's. Nothing here returns."""
    inputs = take_inputs(Path(os.environ["GITHUB_EVENT_PATH"]))
    shutil.rmtree(OUT, ignore_errors=True)  # what the job before left
    OUT.mkdir()
    own = os.umask(0o022)  # a sandbox reads the harness as a user of its own
    tool = str(harness(inputs))
    os.umask(own)
    command = [sys.executable, "-I", tool, "node", "--result", "out/result.json"]
    if inputs["payload"]:
        command += ["--payload", "-"]
        put_on_stdin(inputs["payload"].encode())
    else:
        command += ["--payload-url-env", PAYLOAD_URL]
        os.environ[PAYLOAD_URL] = inputs["payload_url"]
    if inputs["events_url"]:
        command += ["--events-url-env", EVENTS_URL]
        os.environ[EVENTS_URL] = inputs["events_url"]
    if inputs["sandbox"] == "optional":
        command.append("--no-sandbox-ok")
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606 (no shell is wanted)


def take_inputs(event: Path) -> dict[str, str]:
    """What the platform has sent, of which nothing is left in the file."""
    content = event.read_bytes()
    with event.open("r+b") as file:
        file.write(b" " * len(content))
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        file.truncate()
        file.write(b"{}\n")
    inputs = json.loads(content)["inputs"]
    return {name: value or "" for name, value in inputs.items()}


def put_on_stdin(content: bytes) -> None:
    """From now on standard input holds the content, which is in no file that has a name."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        os.dup2(file.fileno(), 0)


def harness(inputs: dict[str, str]) -> Path:
    """What to run: a zipapp, or what was in one."""
    if not inputs["harness_url"]:
        return built_here()
    wanted = inputs["harness_sha256"]
    kept = cache() / f"{wanted}.pyz"
    if hash_of(kept) != wanted:
        content = fetch(inputs["harness_url"])
        if hashlib.sha256(content).hexdigest() != wanted:
            sys.exit("run_job.py: the platform sent another harness than it had announced.")
        remove_old(kept.parent)
        shutil.rmtree(kept.with_suffix(""), ignore_errors=True)
        write_whole(kept, content)
    os.utime(kept)
    return unpacked(kept)


def unpacked(kept: Path) -> Path:
    """A folder, compiled: it starts a good half of a second sooner. If that can't be, the file."""
    folder = kept.with_suffix("")
    if not folder.is_dir():
        draft = Path(tempfile.mkdtemp(dir=kept.parent))
        try:
            with zipfile.ZipFile(kept) as archive:
                archive.extractall(draft)
            compileall.compile_dir(draft, quiet=2, stripdir=str(draft))
            draft.chmod(0o755)
            draft.rename(folder)
        except OSError:  # the disk is full, or another job was quicker
            shutil.rmtree(draft, ignore_errors=True)
    return folder if folder.is_dir() else kept


def cache() -> Path:
    """A folder that outlives the job."""
    tools = os.environ.get("RUNNER_TOOL_CACHE")
    folder = Path(tools) if tools else Path.home() / ".cache"
    folder = folder / "kernelbot" / "harness"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def hash_of(path: Path) -> str:
    """Empty if there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def fetch(url: str) -> bytes:
    """What the platform serves. The URL is in no message: whoever reads the log may be anybody."""
    import urllib.request  # which takes a tenth of a second, and is needed once

    for number in range(1, TRIES + 1):
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 (ours)
                content: bytes = answer.read(MAX_HARNESS_BYTES + 1)
            return content
        except (OSError, ValueError) as error:
            code = getattr(error, "code", None)
            why = f"HTTP {code}" if code else type(error).__name__
            print(f"run_job.py: the platform can't be reached ({why}).", file=sys.stderr)
            if number < TRIES:
                time.sleep(2.0 ** (number - 1))
    sys.exit("run_job.py: no harness. Can this machine reach the platform's public_url?")


def remove_old(folder: Path) -> None:
    """Make room."""
    for path in folder.glob("*.pyz"):
        if time.time() - path.stat().st_mtime > KEPT_S:
            path.unlink(missing_ok=True)
            shutil.rmtree(path.with_suffix(""), ignore_errors=True)


def write_whole(path: Path, content: bytes) -> None:
    """Whole or not at all: another job may want it at the same time."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as draft:
        try:
            draft.write(content)
            draft.flush()
        except OSError:  # the disk is full, and stays so as long as this is there
            Path(draft.name).unlink()
            raise
    Path(draft.name).chmod(0o644)
    Path(draft.name).rename(path)


def built_here() -> Path:
    """Of this checkout's sources."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
    from kernelbot.harness.archive import build

    return build(Path(tempfile.mkdtemp()) / "kernelbot-harness.pyz")


if __name__ == "__main__":
    main()
