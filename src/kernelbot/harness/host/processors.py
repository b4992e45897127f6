"""Who computes where: the author's code on cores of its own, so that its times repeat."""

import os

RESERVED_CORES = 1
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_MAX_GPU_THREADS = 16
_COMPILERS = ("MAX_JOBS", "TORCHINDUCTOR_COMPILE_THREADS")
"""How many at once, of `load_inline` and torch.compile."""
_MAX_COMPILERS = 4


def author_cpus(reserved: int, slots: int) -> tuple[int, ...]:
    """The processors of the authors' code: all of ours but `reserved`, and one for each slot.

    Those are left to the judge, so that it doesn't displace what it measures. Empty if nothing
    is to be reserved.
    """
    allowed = sorted(os.sched_getaffinity(0))
    kept = max(len(allowed) - reserved, min(slots, len(allowed)))
    return tuple(allowed[-kept:]) if kept < len(allowed) else ()


def thread_environment(cpus: tuple[int, ...], slots: int) -> dict[str, str]:
    """Tells the usual libraries how many threads a runner has processors for.

    More threads than processors wait for each other: times then vary a hundredfold.
    """
    return dict.fromkeys(_THREADS, str(_processors(cpus, slots)))


def gpu_thread_environment(slots: int) -> dict[str, str]:
    """The same for runners on a GPU, who may use every processor of a large machine: each library
    would start a thread for each, and torch a compiler, more than a runner may have tasks and
    memory for."""
    processors = _processors((), slots)
    return {
        **dict.fromkeys(_THREADS, str(min(processors, _MAX_GPU_THREADS))),
        **dict.fromkeys(_COMPILERS, str(min(processors, _MAX_COMPILERS))),
    }


def _processors(cpus: tuple[int, ...], slots: int) -> int:
    available = len(cpus) or len(os.sched_getaffinity(0))
    return max(1, available // max(slots, 1))
