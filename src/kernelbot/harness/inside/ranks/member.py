"""The problem's ranks: processes that together generate each rank's data and check its output.

A reference for several ranks communicates between them, so it needs as many processes as the
submission has, with a process group of their own. They are forked by the first process of the
problem's cage.
"""

import contextlib
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from kernelbot.harness.data.channel import MAX_PROBLEM_MESSAGE_BYTES, Channel, ChannelClosed
from kernelbot.harness.inside import kernel
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageRequest
from kernelbot.harness.words.runner_messages import RankPosition
from kernelbot.protocol import ProblemSpec

_Answering = Callable[[Channel, ProblemSpec, RankPosition, str], None]
"""What a member does, on its device: answers until the judge hangs up (raises `ChannelClosed`)."""


def serve_members(
    control_channel: Channel, spec: ProblemSpec, folder: str, answer: _Answering
) -> NoReturn:
    """Fork members when the judge asks for them; an order for rank 0 ends all earlier ones.

    `folder` is for their files. Meant to be the whole life of a forked process.
    """
    tempfile.tempdir = folder
    pids: list[int] = []
    _begin(control_channel)
    with contextlib.suppress(ChannelClosed):
        while True:
            order, fds = control_channel.receive(CageRequest)
            if not isinstance(order, messages.StartMember):
                raise AssertionError("the judge starts members")
            if order.rank == 0:
                _end_all(pids)
            pid = os.fork()
            if pid == 0:
                meeting = Path(folder, order.meeting).as_uri()
                position = RankPosition(order.rank, order.world_size, order.backend, meeting)
                _be_member(fds[0], spec, position, order.device, answer)
            os.close(fds[0])
            pids.append(pid)
    _end_all(pids)
    os._exit(0)


def _begin(control_channel: Channel) -> None:
    """Die with the parent, and close the parent's descriptors."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.close_all_but({0, 1, 2, control_channel.fileno()})


def _end_all(pids: list[int]) -> None:
    while pids:
        os.kill(pids[-1], signal.SIGKILL)
        os.waitpid(pids.pop(), 0)


def _be_member(
    fd: int, spec: ProblemSpec, position: RankPosition, device: str, answer: _Answering
) -> NoReturn:
    code = 1
    try:
        control_channel = Channel(socket.socket(fileno=fd), MAX_PROBLEM_MESSAGE_BYTES)
        _begin(control_channel)
        with contextlib.suppress(ChannelClosed):
            answer(control_channel, spec, position, device)
        code = 0
    except BaseException:  # noqa: BLE001 (the last frame of this process: it shows and ends)
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)
