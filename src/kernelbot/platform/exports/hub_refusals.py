"""Why the Hub, or where it keeps large files, did not take an export, as a sentence."""

import re
from typing import Any

from kernelbot.domain.errors import Unavailable

_MAX_SAID = 300
_IN_XML = re.compile("<Message>([^<]*)</Message>")


def refusal(error: Exception, size: int) -> Unavailable:
    """The error for an organiser. `size`: of the export, in bytes. Names no address: those of large
    files are signed, and whoever has one may write there."""
    answer: Any = getattr(error, "response", None)
    if answer is None:
        return Unavailable(f"The Hub did not take the export: {_in_short(str(error), error)}.")
    status = answer.status_code
    said = _in_short(getattr(error, "server_message", None) or "", error)
    if status == 413:
        return Unavailable(
            f"The Hub does not take the export, because {size / 1e6:.1f} MB are too much: {said} "
            "(413).",
            hint="Export fewer boards at once.",
        )
    if status == 403 and answer.request.method == "PUT":
        return Unavailable(
            f"The Hub's storage does not take the export any more: {said} (403).",
            hint="Try again: each attempt gets an address of its own, which lasts some minutes.",
        )
    return Unavailable(f"The Hub did not take the export: {said} ({status}).")


def _in_short(said: str, error: Exception) -> str:
    """A line; S3 says it in XML."""
    found = _IN_XML.search(said)
    text = " ".join((found[1] if found else said).split()) or type(error).__name__
    return text[:_MAX_SAID].rstrip(".")
