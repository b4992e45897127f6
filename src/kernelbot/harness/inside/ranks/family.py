"""In the sandbox: one process per rank, forked before any code of the author is loaded.

The process that forks them stays as their parent. It runs no author's code, waits for the first
rank to end, reports which one it was, and ends in the same way. As with any runner, everything in
the sandbox ends with it.
"""

import os
import signal
import socket
from collections.abc import Sequence

from kernelbot.harness.data import wire
from kernelbot.harness.inside import kernel
from kernelbot.harness.inside.runner.runner import serve
from kernelbot.harness.words.order import Hello, RankEnded


def serve_ranks(channels: Sequence[socket.socket], status: socket.socket) -> int:
    """Be the parent of one rank per channel; returns the exit code of the first that ends.

    Takes over the descriptors. `status` is where trusted processes report to the judge.
    """
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the ranks must not read our memory or descriptors
    ranks = {_fork(rank, channels, status): rank for rank in range(len(channels))}
    for channel in channels:
        channel.close()
    pid, ended = os.waitpid(-1, 0)
    wire.send(status, RankEnded(ranks[pid]))
    if os.WIFSIGNALED(ended):
        _end_by(os.WTERMSIG(ended))
    return os.waitstatus_to_exitcode(ended) & 0xFF


def _fork(rank: int, channels: Sequence[socket.socket], status: socket.socket) -> int:
    pid = os.fork()
    if pid:
        return pid
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # as runners are: the judge reads their memory
    for other, channel in enumerate(channels):
        if other != rank:
            channel.close()
    wire.send(status, Hello(f"rank {rank}"))
    status.close()
    os.setsid()  # else a signal to "my group" would reach the others
    serve(channels[rank])
    raise SystemExit(0)


def _end_by(number: int) -> None:
    """End by a signal, as the rank did."""
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
