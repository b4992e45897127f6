"""A payload that holds no more than a program to start: by it an image is tried by hand.

    {"lang":"py","mode":"test","files":{"main.py":"print('Hello GPU!')"},"tests":[],"benchmarks":[]}

The program runs in the sandbox like any author's, with the device of the machine; ending with exit
code 0 is all that is asked of it.
"""

import base64
import binascii
import json
import uuid
import zlib
from typing import Any

from kernelbot.harness.gpu.nodes import gpu_nodes
from kernelbot.protocol import (
    BuildConfig,
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    SourceFile,
    Vendor,
)

_KEYS = {"lang", "mode", "files", "tests", "benchmarks"}
_MAIN = "main.py"
_LONGEST_NAME = 100
LARGEST_BYTES = 16 << 20
"""The largest JSON, however well it was compressed."""
_START = "kernelbot_start.py"
_START_TEXT = f"""
import os
import subprocess
import sys

status = subprocess.run([sys.executable, {_MAIN!r}]).returncode
if status == 0:
    os.write(int(os.environ["POPCORN_FD"]), b"check: pass\\n")
sys.exit(status if status >= 0 else 128 - status)
"""
"""Says of a program that ended well that it did, as problems' own scripts do."""


class BadPayload(Exception):
    """A payload that can't be judged; the text says what is wrong with it."""


class NotMinimal(Exception):
    """A payload of another kind: one that the platform has made."""


def decode(payload: bytes) -> Any:
    """The JSON of a payload, which may also be written plainly. Raises `BadPayload`."""
    text = payload.strip()
    try:
        if not text.startswith(b"{"):
            text = _unpacked(base64.b64decode(text, validate=True))
        return json.loads(text)
    except (binascii.Error, zlib.error) as error:
        raise BadPayload(
            f"The payload is neither JSON nor base64 of JSON that zlib has compressed: {error}."
        ) from None
    except (ValueError, RecursionError) as error:  # also bytes that are no text
        raise BadPayload(f"The payload isn't JSON: {error}.") from None


def _unpacked(packed: bytes) -> bytes:
    stream = zlib.decompressobj()
    content = stream.decompress(packed, LARGEST_BYTES)
    if stream.unconsumed_tail:
        raise BadPayload(f"The payload is larger than {LARGEST_BYTES >> 20} MiB.")
    if not stream.eof:
        raise BadPayload("The payload ends in the middle.")
    return content


def minimal_job(document: Any) -> JobSpec:
    """The job of a decoded payload.

    Raises `NotMinimal`, and `BadPayload` if a minimal one's values are wrong.
    """
    if not isinstance(document, dict):
        raise BadPayload("The payload isn't a JSON object.")
    if document.keys() != _KEYS or document["tests"] or document["benchmarks"]:
        raise NotMinimal
    if (document["lang"], document["mode"]) != ("py", "test"):
        raise BadPayload('A minimal payload has the lang "py" and the mode "test".')
    sources = _sources(document["files"])
    program = sources.pop(_MAIN)
    others = [SourceFile(name, text) for name, text in sources.items()]
    problem = ProblemSpec(
        name="minimal",
        lang=Lang.PY,
        harness=HarnessKind.SCRIPT,
        harness_reason="it is a program to start, and no more",
        files=(SourceFile(_START, _START_TEXT), *others),
        submission_name=_MAIN,
        config=BuildConfig(main=_START),
        tests=(),
        benchmarks=(),
    )
    submission = SourceFile(_MAIN, program)
    return JobSpec(uuid.uuid4().hex, problem, submission, Mode.TEST, device_here())


def _sources(files: Any) -> dict[str, str]:
    """Texts by name. Raises `BadPayload`."""
    if not isinstance(files, dict) or not isinstance(files.get(_MAIN), str):
        raise BadPayload(f"The payload's files hold no text named {_MAIN}.")
    for name, text in files.items():
        if not _is_bare(name) or name == _START:
            raise BadPayload(f"{name[:_LONGEST_NAME]!r} can't be the name of a file.")
        if not isinstance(text, str) or not _is_unicode(text):
            raise BadPayload(f"The file {name} isn't text.")
    return dict(files)


def _is_bare(name: str) -> bool:
    plain = name.isprintable() and _is_unicode(name) and "/" not in name
    return plain and 0 < len(name) <= _LONGEST_NAME and name not in (".", "..")


def _is_unicode(text: str) -> bool:
    """JSON can write half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def device_here() -> DeviceSpec:
    """The GPU of this machine if it has any, else its processor. No roofline."""
    for vendor in (Vendor.NVIDIA, Vendor.AMD):
        if gpu_nodes(vendor):
            return DeviceSpec(vendor.name, vendor)
    return DeviceSpec("CPU", Vendor.CPU)
