"""The limits that hold for a job: its own, but never less than its device can't do without."""

from dataclasses import replace

from kernelbot.harness.inside.machine import machine_memory_bytes
from kernelbot.protocol import JobSpec, Limits, Vendor

_GPU_PROCESSES = 1024
"""CUDA and the compilers behind torch and Triton start threads by the dozen in every process."""
_GPU_MEMORY_BYTES = 16 << 30
"""To compile a kernel against CUTLASS takes more than 4 GiB, and loading CUDA's libraries some."""
_STAGED_MEMORY_BYTES = 32 << 30
"""The same if inputs and outputs of a GPU pass through host memory that counts as the author's."""
_GPU_FILE_BYTES = 2 << 30
"""What nvcc writes while it compiles against CUTLASS or torch, in the runner's own folders. It
counts as its memory."""
_MACHINE_SHARE = 0.5


def with_limits_in_force(
    job: JobSpec, machine_bytes: int | None = None, *, staged: bool = True
) -> JobSpec:
    """The same job with the limits that hold here. `machine_bytes`: this machine's memory; None: as
    the system says. `staged`: whether a GPU's data passes the host's memory on its way, which none
    does of a job that only builds."""
    if job.device.vendor is Vendor.CPU:
        return job
    machine_bytes = machine_memory_bytes() if machine_bytes is None else machine_bytes
    is_staged = staged and not job.build_only
    wanted_bytes = _STAGED_MEMORY_BYTES if is_staged else _GPU_MEMORY_BYTES
    least_bytes = min(wanted_bytes, int(machine_bytes * _MACHINE_SHARE))
    limits = replace(
        job.limits,
        memory_bytes=max(job.limits.memory_bytes, least_bytes),
        processes=max(job.limits.processes, _GPU_PROCESSES),
        file_size_bytes=max(job.limits.file_size_bytes, _GPU_FILE_BYTES),
    )
    return replace(job, limits=limits)


def limits_of_ranks(limits: Limits, ranks: int) -> Limits:
    """For `ranks` runners that share one sandbox: what one of them may use, for each. The largest
    file grows too, since their shared memory counts as one."""
    return replace(
        limits,
        memory_bytes=limits.memory_bytes * ranks,
        processes=limits.processes * ranks,
        file_size_bytes=limits.file_size_bytes * ranks,
    )
