"""Makes a process one rank of several: sets up what code for several devices expects."""

import importlib
import os
from collections.abc import Callable
from typing import Any

from kernelbot.harness.words.runner_messages import RankPosition

FROM_ENVIRONMENT = "env://"
"""Connect on the loopback of a network namespace that only the ranks use."""
_PORT = "29500"


def join(position: RankPosition) -> Callable[[], Any] | None:
    """Initialise `torch.distributed`; on GPUs returns a barrier of all ranks.

    On a CPU the judge lets all ranks begin at once, and waits for all before it reads any output:
    a barrier that nobody can skip. For GPUs that alone isn't precise enough.

    Raises RuntimeError.
    """
    rank, world_size, backend = position.rank, position.world_size, position.backend
    torch: Any = importlib.import_module("torch")
    distributed: Any = importlib.import_module("torch.distributed")
    for name in ("RANK", "LOCAL_RANK"):
        os.environ[name] = str(rank)
    for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        os.environ[name] = str(world_size)
    for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        os.environ[name] = "lo"
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=_PORT)
    # All ranks together have the threads that one runner has alone.
    torch.set_num_threads(max(1, torch.get_num_threads() // world_size))
    options: dict[str, Any] = {}
    if backend == "nccl":
        _take_gpu(torch, rank, world_size)
        options["device_id"] = torch.device("cuda", rank)
    distributed.init_process_group(
        backend, init_method=position.meeting, rank=rank, world_size=world_size, **options
    )
    if backend != "nccl":
        return None
    group, barrier = distributed.new_group(), distributed.barrier
    return lambda: barrier(group)


def _take_gpu(torch: Any, rank: int, world_size: int) -> None:
    found = torch.cuda.device_count()
    if found < world_size:
        raise RuntimeError(f"a case needs {world_size} GPUs, and this machine has {found}")
    torch.cuda.set_device(rank)
