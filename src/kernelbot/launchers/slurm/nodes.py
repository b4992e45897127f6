"""Whether a partition has a node for a device, by what `sinfo` says."""

import re
from dataclasses import dataclass

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.base import Availability
from kernelbot.launchers.slurm.settings import SlurmDevice

FORMAT = "%P|%a|%T|%G|%E"
_ROW = re.compile(
    r"([^|]*)\|(\w+)\|([a-z_]+(?:\+[a-z_]+)*)([^a-z_|]*)\|([^|]*)\|(.*)", re.IGNORECASE
)
_USABLE = frozenset(
    (
        "idle",
        "mixed",
        "allocated",
        "blocked",
        "cloud",
        "completing",
        "dynamic_norm",
        "planned",
        "powered_down",
        "powering_down",
        "powering_up",
    )
)
_RESERVED = "reserved"
_NO_ANSWER = "*"


@dataclass(frozen=True)
class Nodes:
    """Nodes of a partition that are alike."""

    partition: str
    default: bool
    up: bool
    state: str
    answers: bool
    gres: str
    reason: str

    def usable(self, *, reserved: bool) -> bool:
        """Whether a job could run there, now or later; `reserved`: one that names a reservation."""
        states = _USABLE | {_RESERVED} if reserved else _USABLE
        return self.up and self.answers and states.issuperset(self.state.split("+"))

    def why_not(self) -> str:
        """The reasons why the others aren't usable."""
        if not self.up:
            return f"partition {self.partition} is not up"
        said = "" if self.reason in ("", "none") else f" ({self.reason})"
        return f"nodes are {self.state}{'' if self.answers else ', and do not answer'}{said}"


def read_nodes(text: str) -> list[Nodes]:
    """What `sinfo --format` answered. Raises `SchedulerError` for anything else."""
    found = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        row = _ROW.fullmatch(line)
        if row is None:
            raise SchedulerError(f"sinfo answered {line[:200]!r} instead of nodes.")
        name, up, state, flags, gres, reason = row.groups()
        default = name.endswith("*")
        answers = _NO_ANSWER not in flags
        state = state.lower()
        found.append(Nodes(name.rstrip("*"), default, up == "up", state, answers, gres, reason))
    return found


def availability(nodes: list[Nodes], device: SlurmDevice) -> Availability:
    """Whether a job of the device could run."""
    named = None if device.partition is None else device.partition.split(",")
    mine = [each for each in nodes if (each.default if named is None else each.partition in named)]
    if not mine:
        return Availability(False, f"Slurm has no partition {device.partition or 'by default'}")
    if device.gres is not None:
        mine = [each for each in mine if _offers(each.gres, device.gres)]
    if not mine:
        return Availability(False, f"no node of Slurm's has {device.gres}")
    if any(each.usable(reserved=device.names_a_reservation) for each in mine):
        return Availability(True)
    return Availability(False, "; ".join(dict.fromkeys(each.why_not() for each in mine)))


def _offers(gres: str, wanted: str) -> bool:
    """`gpu:h100:2(S:0)` offers `gpu:h100:1` and `gpu:1`, though not how many are free."""
    offered = [part.split("(")[0].split(":") for part in gres.split(",")]
    for each in wanted.split(","):
        kinds = [word for word in each.split(":") if not word.isdigit()]
        if not any(words[: len(kinds)] == kinds for words in offered):
            return False
    return True
