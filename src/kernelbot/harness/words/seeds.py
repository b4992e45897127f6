"""The seeds of a call's data. Public cases are exactly as written; secret ones can't be guessed."""

import hashlib
from collections.abc import Mapping

from kernelbot.protocol import Case, CaseValue

_MASK = (1 << 31) - 1
"""The range that `torch.manual_seed`, `numpy.random.seed` and `random.seed` all accept."""


def cantor_pair(a: int, b: int) -> int:
    """How the problem format mixes a case's seed with the secret one: a + (a+b)(a+b+1)/2."""
    return a + (a + b) * (a + b + 1) // 2


def case_arguments(case: Case, secret: int | None) -> dict[str, CaseValue]:
    """Arguments of `generate_input` for the first call of a case."""
    arguments = dict(case.args)
    seed = arguments.get("seed")
    if secret is not None and type(seed) is int:
        arguments["seed"] = cantor_pair(abs(seed), abs(secret)) & _MASK
    return arguments


def call_seed(secret: bytes, case_index: int, call_index: int) -> int:
    """A fresh seed for a timed call: SHA-256 of the run's own secret and the call's indices."""
    text = secret + case_index.to_bytes(4, "little") + call_index.to_bytes(4, "little")
    return int.from_bytes(hashlib.sha256(text).digest(), "little") & _MASK


def with_seed(arguments: Mapping[str, CaseValue], seed: int) -> dict[str, CaseValue]:
    """The same arguments with another seed, if the case has one."""
    if type(arguments.get("seed")) is not int:
        return dict(arguments)
    return {**arguments, "seed": seed}
