"""What makes two versions of a problem the same, and what makes their scores comparable."""

import hashlib
import json
from typing import Any, NamedTuple

from kernelbot.boards.model import ProblemDefinition
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import to_wire

_LEFT_OUT_IF_EMPTY = ("summary", "difficulty", "tags")
"""Fields that came later. A problem without them has the hash it had before, and servers and
clients of the release before can read it."""


def definition_to_wire(definition: ProblemDefinition) -> dict[str, Any]:
    """A definition as it is stored, and as `POST /boards` takes it."""
    wire = to_wire(definition)
    empty = [name for name in _LEFT_OUT_IF_EMPTY if not wire[name]]
    return {key: value for key, value in wire.items() if key not in empty}


class ProblemHashes(NamedTuple):
    """SHA-256 of all of a definition, and of the part that judging depends on."""

    content: bytes
    judging: bytes


def problem_hashes(definition: ProblemDefinition) -> ProblemHashes:
    """Both hashes. Raises `InvalidProblem` for text that can't be stored.

    Tests, files and rules are what judging depends on. The statement, the starter files and what
    lists say are not, so that nobody loses their place because a typo was corrected; nor are the
    devices, each of which has a ranking of its own. `judging_hash_of` in the database says the same
    of a definition that is stored.
    """
    if "\x00" in definition.description:
        raise InvalidProblem("The problem's description holds a NUL character.")
    wire = definition_to_wire(definition)
    return ProblemHashes(_sha256(wire), _sha256(wire["spec"]))


def _sha256(wire: Any) -> bytes:
    try:
        text = json.dumps(wire, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidProblem("The problem's files hold text that isn't valid Unicode.") from None
    return hashlib.sha256(text).digest()
