"""Every advisory lock has a number of its own, in one place."""

import re
from pathlib import Path

import kernelbot
from kernelbot.store import locks
from kernelbot.store.locks import Lock

_SOURCES = Path(kernelbot.__file__).parent


def test_no_two_locks_have_the_same_number() -> None:
    assert len(Lock.__members__) == len({lock.value for lock in Lock})


def test_they_are_larger_than_any_id_that_is_locked() -> None:
    assert all(2**32 < lock < 2**63 for lock in Lock)


def test_no_other_file_has_a_number_of_a_lock() -> None:
    """By the digits of those there are, and by any number written into a call."""
    digits = re.compile("|".join(str(lock.value) for lock in Lock))
    call = re.compile(r"advisory_(?:xact_)?(?:lock|unlock)\w*\(\s*\d")
    texts = {p: p.read_text() for end in ("*.py", "*.sql") for p in _SOURCES.rglob(end)}
    written = [path.name for path, text in texts.items() if call.search(text)]
    known = [path.name for path, text in texts.items() if digits.search(text.replace("_", ""))]
    assert ([], [Path(locks.__file__).name]) == (written, known)
