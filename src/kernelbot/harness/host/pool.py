"""What has to be alike for jobs to share zygotes, and the zygotes that they share."""

import importlib.util
import math
import threading
import time
from dataclasses import dataclass, replace

from kernelbot.harness.data.channel import Channel
from kernelbot.harness.gpu.access import architecture, build_access, driver_found, gpu_access
from kernelbot.harness.gpu.nodes import numbering
from kernelbot.harness.host.cancellation import Cancellation, Cancelled
from kernelbot.harness.host.headers import header_folders, headers_found
from kernelbot.harness.host.judge_zygote import RUNNERS_AHEAD, JudgeZygote
from kernelbot.harness.host.processors import (
    author_cpus,
    gpu_thread_environment,
    thread_environment,
)
from kernelbot.harness.inside.cuda_on_cpu.inline import CHECKED
from kernelbot.harness.inside.gpu.gpu_model import MODEL, REPORTS, gpu_model
from kernelbot.harness.judge.process import JOB_CAP_BYTES
from kernelbot.harness.judge.system import CUDA_ON_CPU_NOTE
from kernelbot.harness.sandbox import Zygote
from kernelbot.harness.sandbox.device_filter import can_filter
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.harness.words.sharing import MPS_NOTE, apart_from_mps
from kernelbot.protocol import HarnessKind, JobSpec, Lang, SandboxMode, SandboxReport, Vendor
from kernelbot.protocol.building import compiles_at_import
from kernelbot.protocol.phases import most_gpus

_START_S = 120.0
_GLANCE_S = 0.1
_IN_SEQUENCE_S = 0.05
"""Between two jobs of a queue lie some 20 ms."""
_WITH_TORCH = ("torch", "triton", "cutlass")
"""Who mentions one of these is given torch: compilers for a GPU that isn't there need it."""
_UNLOGGED = {"KINETO_LOG_LEVEL": "6"}
"""What torch's profiler tells of itself would stand among the author's own words on stderr."""


@dataclass(frozen=True)
class PoolKey:
    """What has to be alike for two jobs to share zygotes."""

    flavour: Flavour
    vendor: Vendor
    sandbox: SandboxMode
    arch: str | None = None
    """The device's architecture, as nvcc names it."""
    builds: bool = False
    """Whether its runners only build, and see no GPU."""
    reports: bool = False
    """Whether nobody takes what extensions of torch are built there."""
    include_dirs: tuple[str, ...] = ()
    """The device's."""
    gpus: int | None = None
    """How many are shown; None: all that were given to this process."""
    checked: bool = False
    """Whether accesses of memory are looked at in CUDA kernels that Python files compile."""


class ZygotePool:
    """A runner zygote in the sandbox, with the frameworks, and a judge zygote outside."""

    def __init__(
        self,
        key: PoolKey,
        slots: int,
        reserved_cores: int,
        ahead: int,
        precompiled: str,
        *,
        lasting: bool,
    ) -> None:
        on_cpu = key.vendor is Vendor.CPU
        cpus = author_cpus(reserved_cores, slots) if on_cpu else ()
        threads = thread_environment(cpus, slots) if on_cpu else gpu_thread_environment(slots)
        cuda_on_cpu = on_cpu and key.flavour is Flavour.TORCH
        env = {"TRITON_INTERPRET": "1"} if on_cpu else {}
        compiles = key.builds and key.flavour is Flavour.TORCH
        model = gpu_model(key.vendor, key.arch) if compiles else None
        if key.builds:
            access = build_access(key.vendor)
        else:
            access = gpu_access(key.vendor, key.gpus, can_filter=can_filter)
        self.render_nodes = access.alone
        apart = {} if key.builds else apart_from_mps(key.vendor)
        headers = header_folders(key.include_dirs)
        notes = {CUDA_ON_CPU_NOTE: cuda_on_cpu, MPS_NOTE: bool(apart)}
        self.notes = (*(note for note, applies in notes.items() if applies), *access.notes)
        config = ZygoteConfig(
            flavour=key.flavour,
            mode=key.sandbox,
            cuda_on_cpu=cuda_on_cpu or model is not None,
            devices=access.devices,
            builds_for_gpu=key.builds,
            folders=(*access.folders, *headers),
            libraries=access.libraries,
            precompiled=precompiled if key.flavour is Flavour.TORCH else "",
            env={
                **env,
                **threads,
                **architecture(key.arch),
                **({MODEL: model.name} if model is not None else {}),
                **({REPORTS: "1"} if key.reports else {}),
                **({CHECKED: "1"} if key.checked else {}),
                **access.env,
                **apart,
                **headers_found(headers, isolated=key.sandbox is SandboxMode.REQUIRED),
                **_UNLOGGED,
            },
            # Those that waiting judges take. What a ranked job needs beyond is forked between two
            # of its phases: kept ready, it would be most of an idle machine's processes.
            spare=(slots + ahead) * RUNNERS_AHEAD if lasting else slots,
            cpus=cpus or access.processors,
            lasting=lasting,
        )
        self._runners = Zygote.start(config)
        # A judge whose idle threads spin would take processors from the runner that is measured.
        threads = thread_environment((), 2 * slots)
        gpus = {} if key.builds else {**numbering(key.vendor), **driver_found(key.vendor)}
        quiet = {**env, **threads, "OMP_WAIT_POLICY": "passive", **gpus, **apart}
        self._judges = JudgeZygote(
            key.flavour.value,
            quiet,
            self._runners.connect(),
            slots + (ahead if on_cpu else 0),  # on a GPU, one that waits holds a driver's context
            lasting=lasting,
            vendor=Vendor.CPU if key.builds else key.vendor,
        )
        self._ready = threading.Lock()
        self._is_ready = False
        self._lock = threading.Lock()
        self.users = 0
        """Jobs that use it, counted by the host."""
        self.ended_at_s = -math.inf
        """When the last of them ended, by `time.monotonic()`."""
        self.is_sound = True

    @property
    def expects_next(self) -> bool:
        """See `expects_next`; for the job that has begun to use it last."""
        return expects_next(self.users, time.monotonic() - self.ended_at_s)

    @property
    def is_ready(self) -> bool:
        """Whether both zygotes have loaded what they are to load."""
        return self._is_ready

    def wait_ready(self, cancelled: Cancellation) -> None:
        """Raises `SandboxUnavailable`, and `Cancelled`: what a zygote loads may take long, and a
        job that nobody wants has the place of one that somebody does."""
        with self._ready:
            if not self._is_ready:
                until = time.monotonic() + _START_S
                for zygote in (self._runners, self._judges):
                    while not zygote.has_answered(_GLANCE_S) and time.monotonic() < until:
                        if cancelled.is_set():
                            raise Cancelled
                    zygote.wait_ready(max(until - time.monotonic(), _GLANCE_S))
                self._is_ready = True

    def report(self) -> SandboxReport:
        """What is in force around this pool's runners."""
        return self._runners.report()

    def start(self, key: str, *, undisturbed: bool) -> Channel:
        """Have a judge; the channel to it. `undisturbed`: see `StartJudge`."""
        with self._lock:
            return Channel(self._judges.start(key, undisturbed=undisturbed), JOB_CAP_BYTES)

    def kill(self, key: str) -> None:
        """Kill a judge; its runners die with its connection."""
        with self._lock:
            self._judges.kill(key)

    def let_go(self, key: str) -> None:
        """A judge has given its result, and ends by itself."""
        with self._lock:
            self._judges.let_go(key)

    def has_ended(self) -> bool:
        """Whether a judge that died was one of all."""
        with self._lock:
            return self._judges.has_ended()

    def close(self) -> None:
        """End everything of this pool."""
        self._judges.close()
        self._runners.close()


def expects_next(users: int, since_last_s: float) -> bool:
    """Whether a job that begins has another one beside it, or came right after one: so the next is
    to be expected before it ends.

    To fork for that one meanwhile makes it a third slower, and is in vain where a person sends one
    job and looks at its result.
    """
    return users > 1 or since_last_s < _IN_SEQUENCE_S


def key_of(job: JobSpec) -> PoolKey:
    """Whose zygotes a job needs."""
    device = job.device
    gpus = None if device.vendor is Vendor.CPU else most_gpus(job.problem)
    flavour = flavour_of(job)
    return PoolKey(
        flavour,
        device.vendor,
        job.sandbox,
        device.arch,
        include_dirs=device.include_dirs,
        gpus=gpus,
        checked=job.checked and job.problem.lang is Lang.PY,
    )


def building_key_of(job: JobSpec) -> PoolKey:
    """The same for those in which a job is built that sees no GPU; a CPU needs no others. What a
    compiler reads needs no framework, whatever the problem's own files are written with."""
    key = key_of(job)
    if job.problem.lang.is_compiled:
        key = replace(key, flavour=Flavour.BARE)
    if job.device.vendor is Vendor.CPU:
        return key
    reports = job.report_only and compiles_at_import(job.submission.text)
    return replace(key, builds=True, reports=reports, gpus=None)


def flavour_of(job: JobSpec) -> Flavour:
    """Which frameworks the problem's files and the submission mention, as far as there are any.

    Where one is missing, whoever imports it is told: the mention may be no more than a comment.
    A script starts a Python of its own, which gains nothing from what its runner has loaded.
    """
    if job.problem.harness is HarnessKind.SCRIPT:
        return Flavour.BARE
    if job.problem.multi_gpu and _installed("torch"):
        return Flavour.TORCH  # ranks meet by torch.distributed
    texts = [file.text for file in job.problem.files] + [job.submission.text]
    if any(name in text for name in _WITH_TORCH for text in texts) and _installed("torch"):
        return Flavour.TORCH
    if any("numpy" in text or "torch" in text for text in texts) and _installed("numpy"):
        return Flavour.NUMPY
    return Flavour.BARE


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
