"""Outputs as a judge holds them: descriptions and bytes."""

import contextlib
import json
from typing import Any

from kernelbot.harness.data.decode import decode
from kernelbot.harness.data.shared_memory import SharedBuffer


def built(held: Any, modules: frozenset[str] = frozenset()) -> Any:
    """The value that the problem's process builds of what the judge sends it; of several outputs a
    tuple."""
    if isinstance(held, tuple):
        return tuple(built(one, modules) for one in held)
    sent = json.loads(json.dumps(held.skeleton))
    with contextlib.closing(SharedBuffer.create(held.size_bytes)) as buffer:
        held.copy_to(buffer)
        return decode(sent, buffer, modules)[0]
