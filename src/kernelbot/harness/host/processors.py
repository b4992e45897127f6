"""Who computes where: the author's code on cores of its own, so that its times repeat."""

import os

RESERVED_CORES = 1


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
    available = len(cpus) or len(os.sched_getaffinity(0))
    threads = str(max(1, available // max(slots, 1)))
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return dict.fromkeys(names, threads)
