"""A real host, for all tests of a process that need nothing special of theirs: to start one takes
1.5 s of a processor, with torch 6 s."""

from collections.abc import Iterator

import pytest

from kernelbot.harness.host.host import Host


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """The host of this process's tests."""
    made = Host()
    yield made
    made.close()
