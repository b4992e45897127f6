"""Processes that fork don't open a GPU."""

from pathlib import Path

from kernelbot.harness.inside.gpu.opened import open_devices


def test_an_open_device_is_noticed() -> None:
    before = open_devices(("/dev/zer",))
    with Path("/dev/zero").open("rb"):
        assert ([], ["/dev/zero"]) == (before, open_devices(("/dev/zer",)))
