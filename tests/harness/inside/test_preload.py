"""What zygotes import."""

import torch

from kernelbot.harness.inside.preload import driver_left_alone


def test_while_frameworks_are_imported_no_driver_is_asked() -> None:
    ask = torch.cuda.is_available
    with driver_left_alone(torch):
        told = torch.cuda.is_available()
    assert (True, ask) == (told, torch.cuda.is_available)
