"""The tables of `kernelbot.toml` and their keys. Unknown keys are mistakes."""

import dataclasses
import math
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from kernelbot.api.settings import VendorNotes
from kernelbot.domain.values import from_fields
from kernelbot.launchers.table import ConfigTable
from kernelbot.moderation.reviews.model import ReviewRules
from kernelbot.protocol import DeviceSpec, Limits, NumberType, Peak, SamplingRules, Vendor
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.queue.model import QueueRules, ScriptRules
from kernelbot.server.mistakes import mistake
from kernelbot.store.timeouts import DatabaseTimeouts
from kernelbot.webhooks.model import WebhookRules

T = TypeVar("T", Limits, SamplingRules)
_MAY_BE_ZERO = {"min_total_s", "warmup_s", "patience_s", "check_share"}


PeakFlops = Annotated[float, Field(gt=0)]
IncludeFolder = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_+-][A-Za-z0-9_.+-]*)+$")]


def _as_list(names: Any) -> Any:
    """One launcher may be written without brackets."""
    return (names,) if isinstance(names, str) else names


class DeviceSettings(ConfigTable):
    """One `[[devices]]` of the configuration."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
    vendor: Vendor = Vendor.CPU
    arch: str | None = None
    launcher: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = Field(
        default=("local",), min_length=1
    )
    """Names of launchers, the preferred first."""
    slots: int = Field(default=1, ge=1, le=4096)
    gpus: int = Field(default=1, ge=1, le=64)
    """How many GPUs one run gets."""
    memory_bytes: int | None = Field(default=None, gt=0)
    """The price of one GPU, for people."""
    reserved_cores: int = Field(default=1, ge=0)
    """Cores of a CPU device reserved for the judge, so that submissions' times are repeatable."""
    turns: bool = True
    """Whether a CPU device's runs measure one at a time on their machine."""
    peak_flops: PeakFlops | dict[NumberType, PeakFlops] | None = None
    """Operations a second, of all types of numbers or by type."""
    peak_bytes_per_s: float | None = Field(default=None, gt=0)
    cache_bytes: int | None = Field(default=None, gt=0)
    """Size of its last-level cache; None: as its driver says."""
    launch_overhead_ns: float | None = Field(default=None, gt=0)
    include_dirs: tuple[IncludeFolder, ...] = ()
    """Folders with headers on its machines, which compilers find there."""
    clock_mhz: int | None = Field(default=None, ge=0, le=10_000)
    """What the clock of its GPUs is locked to before each job; 0: it is unlocked then; None: it is
    left as it is. Whoever judges must be root there."""

    builds_on: str | None = None
    """Another device, a CPU, on which its files are compiled before a run takes a GPU; None: they
    are compiled where they run."""
    image: str = Field(default="", max_length=200)
    """Names what its machines and those of `builds_on` have installed: with another name nothing is
    used that was built before."""
    one_allocation: bool = True
    """Whether a scheduler's node that judges a submission's public run goes on with its secret one,
    so that both have a GPU once, for a time limit that is longer by the second."""
    preflight: bool = True
    """Whether a GPU's submissions are compiled in idle time of this machine's CPU, for their
    authors alone, if the GPU has no `builds_on`."""

    def config(self) -> DeviceConfig:
        peaks = self.peak_flops if isinstance(self.peak_flops, dict) else {}
        spec = from_fields(
            DeviceSpec,
            self,
            peak_flops=None if isinstance(self.peak_flops, dict) else self.peak_flops,
            peaks=tuple(Peak(kind, flops) for kind, flops in peaks.items()),
        )
        return from_fields(DeviceConfig, self, spec=spec, launchers=self.launcher)


class WorkerSettings(ConfigTable):
    """The `[worker]` table: intervals of heartbeats and recovery, in seconds."""

    heartbeat_s: float = Field(default=2.0, gt=0)
    stale_s: float = Field(default=30.0, gt=0)
    """A worker without a heartbeat for longer counts as dead."""
    sweep_s: float = Field(default=5.0, gt=0)
    grace_s: float = Field(default=10.0, ge=0)
    """How long running jobs may continue after SIGTERM before they go back into the queue."""
    host_stale_s: float = Field(default=60.0, gt=0)
    """A device's harness host that is silent for longer is killed, and its jobs are tried again."""


class BuildSettings(ConfigTable):
    """The `[builds]` table: what is kept of build steps."""

    limit_bytes: int = Field(default=4 << 30, ge=0)
    """Most bytes of all that is kept in the database; what wasn't used for longest goes first."""


class QueueSettings(ConfigTable):
    """The `[queue]` table: how authors share a device. Limits count runs, per author and device."""

    waiting_limit: int = Field(default=100, ge=1)
    """How many may wait; submitting more is refused."""
    running_limit: int | None = Field(default=None, ge=1)
    """How many may be judged at once; None: as many as the device has slots."""
    ranked_first: bool = False
    """Ranked runs go before all others, regardless of turns."""
    scripts_per_hour: int = Field(default=20, ge=0)
    """How many scripts by themselves one person may run at Discord."""
    scripts_waiting_limit: int = Field(default=10, ge=0)
    """How many of all people may wait for one device."""

    def rules(self) -> QueueRules:
        return QueueRules(self.waiting_limit, self.running_limit, self.ranked_first)

    def script_rules(self) -> ScriptRules:
        return ScriptRules(self.scripts_per_hour, self.scripts_waiting_limit)


_Limit = Annotated[float, Field(gt=0, le=86_400)]


class DatabaseSettings(ConfigTable):
    """The `[database]` table: how long sessions may keep the database, as `DatabaseTimeouts`
    says."""

    lock_timeout_s: _Limit = DatabaseTimeouts.locked_s
    statement_timeout_s: _Limit = DatabaseTimeouts.slow_s
    long_statement_timeout_s: _Limit = DatabaseTimeouts.unhurried_s
    idle_in_transaction_timeout_s: _Limit = DatabaseTimeouts.idle_s

    def limits(self) -> DatabaseTimeouts:
        """The limits in the store's form."""
        return DatabaseTimeouts(
            locked_s=self.lock_timeout_s,
            slow_s=self.statement_timeout_s,
            unhurried_s=self.long_statement_timeout_s,
            idle_s=self.idle_in_transaction_timeout_s,
        )


class DuelSettings(ConfigTable):
    """The `[duels]` table."""

    enabled: bool = True
    places: int = Field(default=10, ge=0, le=1000)
    """Neighbours are dueled among so many first places of each ranking."""


class ExportSettings(ConfigTable):
    """The `[export]` table."""

    key: str | None = Field(default=None, min_length=16, repr=False)
    """The key of the pseudonyms; None: one that is made once and kept in the database."""
    repository: str | None = Field(default=None, pattern=r"^[^/\s]+/[^/\s]+$")
    """The dataset on the Hugging Face Hub, `owner/name`."""
    endpoint: str | None = Field(default=None, pattern=r"^https?://")
    """The URL of a Hub; None: the public one."""
    license: str = Field(default="other", pattern=r"^[a-z0-9][a-z0-9.-]{0,50}$")
    """The dataset's licence, by the Hub's name for it."""


class WebhookSettings(ConfigTable):
    """The `[webhooks]` table."""

    private_addresses: bool = False
    """Whether they may be in this network, on every port and without TLS."""
    ports: tuple[Annotated[int, Field(ge=1, le=65_535)], ...] = ()
    """Further ones than 443 and 80."""

    def rules(self) -> WebhookRules:
        return WebhookRules(self.private_addresses, self.ports)


class VendorSettings(ConfigTable):
    """The `[vendors]` table: what those who lend machines find at `/harness/`."""

    contact: str | None = Field(
        default=None, pattern=r"""^(mailto:[^\s<>"'@]+@[^\s<>"'@]+|https?://[^\s<>"']+)$"""
    )
    repository: str | None = Field(default=None, pattern=r"""^(https?|ssh)://[^\s<>"']+$""")
    image: str | None = Field(
        default=None, pattern=r"^[a-z0-9][a-z0-9._:/-]{0,180}@sha256:[0-9a-f]{64}$"
    )
    """With its digest: a name alone may become another image at any time."""

    def notes(self) -> VendorNotes:
        return VendorNotes(self.contact, self.repository, self.image)


class DiscordSettings(ConfigTable):
    """The `[discord]` table."""

    guilds: tuple[int, ...] = ()
    """Guilds besides the one of the environment."""
    staging: tuple[int, ...] = ()
    """Where a release is only tried out, and the bot is called so."""
    api_url: str | None = Field(default=None, pattern=r"^https?://")
    """Another host that speaks Discord's interface; None: Discord."""


def _of(kind: type) -> BeforeValidator:
    """Refuses keys that the dataclass doesn't have: else they would be ignored silently."""
    known = {field.name for field in dataclasses.fields(kind)}

    def check(table: Any) -> Any:
        unknown = sorted(set(table) - known) if isinstance(table, dict) else []
        if unknown:
            raise mistake(f"there is no key `{unknown[0]}`")
        return table

    return BeforeValidator(check)


def _amounts(table: T) -> T:
    for name, amount in dataclasses.asdict(table).items():
        may_be_zero = name in _MAY_BE_ZERO
        if not math.isfinite(amount) or amount < 0 or (amount == 0 and not may_be_zero):
            raise mistake(f"{name} must be {'0 or more' if may_be_zero else 'above 0'}")
    return table


def _feasible(rules: SamplingRules) -> SamplingRules:
    if rules.min_samples > rules.max_samples:
        raise mistake("min_samples is above max_samples")
    if rules.check_share > 1:
        raise mistake("check_share must be at most 1")
    return rules


LimitsTable = Annotated[Limits, _of(Limits), AfterValidator(_amounts)]
"""`[limits]`."""

SamplingTable = Annotated[
    SamplingRules, _of(SamplingRules), AfterValidator(_amounts), AfterValidator(_feasible)
]
"""`[sampling]`."""

ReviewTable = Annotated[ReviewRules, _of(ReviewRules)]
"""`[review]`."""
