"""Copying another process's memory."""

import ctypes
import os

import pytest

from kernelbot.harness.data.process_memory import read_memory


def test_memory_is_read_as_it_is() -> None:
    source = ctypes.create_string_buffer(b"bytes that a process holds")
    target = ctypes.create_string_buffer(len(source))
    read_memory(os.getpid(), ctypes.addressof(source), ctypes.addressof(target), len(source))
    assert source.raw == target.raw


def test_memory_that_is_not_there_is_refused() -> None:
    target = ctypes.create_string_buffer(8)
    with pytest.raises(OSError, match="Bad address"):
        read_memory(os.getpid(), 4096, ctypes.addressof(target), 8)
