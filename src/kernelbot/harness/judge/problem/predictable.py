"""Can a kernel know what comes?

Data that recurs can be remembered. What is drawn after the data from the same generator can be
drawn as well by whoever recovers its state from them.
"""

import copy
import ctypes
import hashlib
import os
import pickle
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

from kernelbot.harness.inside.cage.checking import expected_output
from kernelbot.harness.inside.cage.loader import ProblemBroken, ProblemFunctions, described, loaded
from kernelbot.harness.inside.cage.questions import encode_input
from kernelbot.harness.judge.problem.troubles import ProblemTrouble
from kernelbot.harness.words.seeds import call_seed, with_seed
from kernelbot.protocol import Case, ProblemSpec
from kernelbot.protocol.recurring import MOST_CALLS, has_generator, may_recur, recurs

_LONGEST_S = 2.0
"""For the data of each workload, of which at least two calls are looked at."""


def predictable(problem: ProblemFunctions, spec: ProblemSpec) -> tuple[ProblemTrouble, ...]:
    """What a kernel could know of the timed calls. Raises `ProblemBroken`."""
    secret = os.urandom(32)
    for index, case in enumerate(spec.benchmarks):
        if not spec.recurring_data and _recurs(problem, case, index, secret):
            return (ProblemTrouble(recurs(case.spec)),)
    return tuple(_drawn(problem, [*spec.tests, *spec.benchmarks][0], secret))


def recurring_of_script(spec: ProblemSpec) -> tuple[ProblemTrouble, ...]:
    """Notes of a problem that its own script judges: which data its timed calls get, the script
    alone knows, but not more kinds than its generator makes. Empty if it has no generator that is
    known: a `generate_input` in reference.py."""
    if spec.recurring_data or not has_generator(spec):
        return ()
    secret = os.urandom(32)
    try:
        with loaded(spec) as problem:
            for index, case in enumerate(spec.benchmarks):
                if _recurs(problem, case, index, secret):
                    return (_note(may_recur(case.spec)),)
    except ProblemBroken as error:
        why = described(error.__cause__ or error)
        said = f"Whether its data recurs isn't known: its reference.py can't be asked here ({why})."
        return (_note(said),)
    return ()


def content_of(problem: ProblemFunctions, data: Any) -> bytes:
    """A hash of all that a runner would get of the data."""
    encoded = encode_input(data, problem.modules)
    digest = hashlib.sha256(repr(encoded.skeleton).encode())
    for leaf in encoded.leaves:
        digest.update(ctypes.string_at(leaf.address, leaf.size_bytes))
    return digest.digest()


def _recurs(problem: ProblemFunctions, case: Case, index: int, secret: bytes) -> bool:
    seen: set[bytes] = set()
    until = time.monotonic() + _LONGEST_S
    for call in range(MOST_CALLS):
        seed = call_seed(secret, index, call)
        content = content_of(problem, problem.make_input(with_seed(case.args, seed), seed))
        if content in seen:
            return True
        seen.add(content)
        if call and time.monotonic() > until:
            break
    return False


def _drawn(problem: ProblemFunctions, case: Case, secret: bytes) -> Iterator[ProblemTrouble]:
    """Notes of what comes from a generator that a kernel may follow."""
    seed = call_seed(secret, 0, 0)
    data = problem.make_input(with_seed(case.args, seed), seed)
    if "seed" in case.args and repr(hex(seed)) in repr(
        encode_input(data, problem.modules).skeleton
    ):
        yield _note(
            "The data hold their seed, by which a kernel can make them again, and whatever is "
            "drawn after them."
        )
    before = _states()
    answer = expected_output(problem, copy.deepcopy(data))
    if before != (between := _states()):
        yield _note(_FOLLOWED.format("ref_kernel"))
    if answer is not None:
        problem.judge(copy.deepcopy(data), answer)
        if between != _states():
            yield _note(_FOLLOWED.format("check_implementation"))


_FOLLOWED = (
    "{} draws from a global generator (random, numpy.random or torch) that has made data before. "
    "Its state can be recovered from data, so a kernel may know what is drawn. Give it a generator "
    "of its own, seeded from os.urandom."
)


def _note(message: str) -> ProblemTrouble:
    return ProblemTrouble(message, is_fatal=False)


def _states() -> bytes:
    """A hash of the states of the generators that everyone shares."""
    states: list[object] = [random.getstate()]
    if (numpy := sys.modules.get("numpy")) is not None:
        states.append(numpy.random.get_state())
    if (torch := sys.modules.get("torch")) is not None:
        states.append(torch.get_rng_state().numpy().tobytes())
    return hashlib.sha256(pickle.dumps(states)).digest()
