"""Whether the platform can do its work, as frozen values."""

from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class ReadinessPart:
    """One thing the platform needs. `note` says what is wrong, or what was seen."""

    name: str
    ok: bool
    note: str


@dataclass(frozen=True)
class Readiness:
    """Whether requests can be answered just now, and whether submissions can be judged."""

    parts: tuple[ReadinessPart, ...]
    """What every answer needs."""
    workers: ReadinessPart | None = None
    """What judging needs in addition; None: it can't be known. Submissions wait for this part."""
    devices: tuple[ReadinessPart, ...] = ()
    """Each part is what the submissions for that device wait for."""

    @property
    def ok(self) -> bool:
        """Requests can be answered."""
        return all(part.ok for part in self.parts)

    @property
    def judges(self) -> bool:
        """Submissions can be judged, on one device at least: an alarm for each device that is away
        would say nothing of the platform."""
        return (
            self.ok
            and self.workers is not None
            and self.workers.ok
            and any(device.ok for device in self.devices)
        )

    @property
    def judging(self) -> tuple[ReadinessPart, ...]:
        """The parts that judging needs in addition."""
        workers = () if self.workers is None else (self.workers,)
        return (*workers, *self.devices)

    @property
    def everything(self) -> tuple[ReadinessPart, ...]:
        """All parts, those first that every answer needs."""
        return (*self.parts, *self.judging)
