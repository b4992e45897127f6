import re
from pathlib import Path

import pytest

from kernelbot.harness.timing.clocks import CacheFlusher
from tests.harness.flushers import a_flusher

CACHE_BYTES = 64 << 20


def _own_bytes() -> int:
    """What this process has of memory that is no file's."""
    found = re.search(r"^RssAnon:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) << 10


def test_a_flusher_takes_its_memory_when_it_is_prepared() -> None:
    before = _own_bytes()
    flusher = CacheFlusher(CACHE_BYTES)
    made = _own_bytes()
    flusher.prepare()
    flusher.prepare()
    taken = _own_bytes() - made
    assert (True, True) == (
        made - before < CACHE_BYTES,
        2 * CACHE_BYTES <= taken < 3 * CACHE_BYTES,
    )


def test_nothing_is_timed_with_a_flusher_that_is_not_prepared() -> None:
    with pytest.raises(AssertionError, match="prepared"):
        CacheFlusher(1).flush(None)


def test_a_flusher_that_is_prepared_flushes() -> None:
    a_flusher().flush(None)
