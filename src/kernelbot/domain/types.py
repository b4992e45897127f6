"""What a kernel competition consists of, as frozen values. Times are UTC-aware datetimes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kernelbot.domain.ranking import NotRanked
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.protocol import (
    DeviceSpec,
    EventKind,
    Fault,
    HarnessKind,
    Mode,
    ProblemSpec,
    RankRule,
    RunResult,
    SourceFile,
    Verdict,
)


class Role(StrEnum):
    """What a person may do."""

    COMPETITOR = "competitor"
    CREATOR = "creator"
    ADMIN = "admin"


class Visibility(StrEnum):
    """Who sees a board."""

    PUBLIC = "public"
    CLOSED = "closed"


@dataclass(frozen=True)
class User:
    """A person with an account."""

    id: int
    name: str
    role: Role
    created_at: datetime
    banned_at: datetime | None = None


@dataclass(frozen=True)
class NewToken:
    """A new token with its text; the store keeps only a hash."""

    user: User
    token: str


@dataclass(frozen=True)
class Board:
    """A leaderboard: one problem, one ranking rule, some devices, maybe a deadline."""

    id: int
    name: str
    description: str
    problem_name: str
    problem_version_id: int
    harness: HarnessKind
    ranking_by: RankRule
    devices: tuple[str, ...]
    visibility: Visibility
    deadline: datetime | None
    created_at: datetime
    reveal_code: bool = False
    """Once the deadline has passed, everyone who sees the board may read its submissions."""
    fixed_seed: bool = False
    """All secret runs share one seed; else each has its own."""
    refuse_unavailable: bool = False
    """While a device takes no jobs, submissions for it are refused; else they wait."""
    outdated_scores: int = 0
    """Number of best scores that aren't ranked, because they are of an earlier problem version."""
    recurring_data: str = ""
    """Why nothing is ranked: of which workload calls get the same data again; or empty."""


@dataclass(frozen=True)
class BoardProblem:
    """A board's statement, starter files, and how it is judged."""

    board: Board
    description: str
    templates: dict[str, str]
    lang: str
    submission_name: str
    spec: ProblemSpec

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """The reference and what comes with it."""
        return self.spec.files


@dataclass(frozen=True)
class NewSubmission:
    """What a door hands to `services.submissions.submit`. `content` is the raw upload."""

    board: str | None
    """None: the `#!POPCORN leaderboard` directive decides."""
    devices: tuple[str, ...]
    """Empty: the directive, or the board's only device, decides."""
    mode: Mode
    file_name: str
    content: bytes


@dataclass(frozen=True)
class Run:
    """One submission on one device, public or secret. `result` None until finished, and in
    views for people who may not see it (secret runs show pass or fail only)."""

    id: int
    submission_id: int
    device: str
    mode: Mode
    secret: bool
    state: RunState
    verdict: Verdict | None
    score_s: float | None
    attempts: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    fault: Fault | None
    message: str | None
    """Why it was not accepted, in one sentence."""
    result: RunResult | None
    rejudge_id: int | None = None
    """The rejudge that measured it again; None for the submission's own runs."""
    unverified: bool = False
    """Measured by the problem's own script."""
    not_ranked: NotRanked | None = None
    """Why an accepted secret run isn't in the ranking; None: it is, or it isn't such a run."""
    repeats: int = 0
    """How often it was measured again, or is being, because its interval was too wide or the
    machine busy."""


@dataclass(frozen=True)
class Evidence:
    """Something that was noticed about a submission, for organisers. It decides nothing."""

    source: str
    """What noticed it: `score`, or the name of a tool."""
    rule: str
    severity: str
    detail: str


@dataclass(frozen=True)
class Submission:
    """A submission with its runs. State, verdict, score and place are derived.

    `score_s` is the secret run's of a ranked submission (the best device's if several), else the
    public run's; `place` is its rank if it is its author's best on that board and device.
    """

    id: int
    board_id: int
    board: str
    author: str
    author_id: int
    file_name: str
    mode: Mode
    created_at: datetime
    state: SubmissionState
    verdict: Verdict | None
    score_s: float | None
    place: int | None
    runs: tuple[Run, ...]
    code: str | None
    """None if the viewer may not see it, and in lists."""
    review: ReviewState = ReviewState.CLEAR
    review_reason: str | None = None
    """Why it is held or was refused, for its author; None while nothing was said."""
    evidence: tuple[Evidence, ...] = ()
    """For organisers; empty for everyone else, and in lists."""
    not_ranked: NotRanked | None = None
    """Why its score isn't in the ranking, on the device of `score_s`. None: it is ranked, it isn't
    a ranked submission, it isn't finished, or it wasn't accepted (see the verdict)."""


@dataclass(frozen=True)
class Standing:
    """A row of the ranking: an author's best on a board and device."""

    rank: int
    author_id: int
    author: str
    score_s: float
    ci95_s: tuple[float, float] | None
    submission_id: int
    file_name: str
    achieved_at: datetime
    unverified: bool
    """Measured by a problem's own script."""


@dataclass(frozen=True)
class RejudgedRun:
    """One of the best, measured again. `after_s` is None until then, or if it failed this time."""

    submission_id: int
    author: str
    before_s: float
    after_s: float | None
    verdict: Verdict | None


@dataclass(frozen=True)
class Rejudge:
    """A board's best on one device, measured again in one go; the ranking follows at the end."""

    id: int
    board: str
    device: str
    created_at: datetime
    finished_at: datetime | None
    runs: tuple[RejudgedRun, ...]


@dataclass(frozen=True)
class Event:
    """A step of a submission's life, numbered for resuming. `id` grows within a submission."""

    id: int
    submission_id: int
    run_id: int | None
    device: str | None
    secret: bool
    kind: EventKind | RunState
    data: dict[str, str | int | float | bool | None]
    created_at: datetime


@dataclass(frozen=True)
class DeviceConfig:
    """A configured device: what it is, which launchers reach it, how many runs at once."""

    spec: DeviceSpec
    launchers: tuple[str, ...]
    """In order of preference; never empty."""
    slots: int = 1
    reserved_cores: int = 1
    """Of a CPU: how many cores submissions may not use, so that the judge has them."""
    turns: bool = True
    """Of a CPU: whether runs measure one at a time on their machine."""
    gpus: int = 1
    """How many GPUs one run gets; means nothing for a CPU."""
    memory_bytes: int | None = None
    """Of one GPU, for people; None: not configured."""
    builds_on: str | None = None
    """The device on which its files are compiled before a run is launched; None: where they run."""
    image: str = ""
    """Names what its machines and those of `builds_on` have installed."""


@dataclass(frozen=True)
class LauncherHealth:
    """Whether a device can be reached by one of its launchers just now; `note` says why not."""

    launcher: str
    available: bool
    note: str


@dataclass(frozen=True)
class DeviceReport:
    """A worker's report on a device: whether it can use it just now, and why not."""

    device: str
    available: bool
    note: str
    launchers: tuple[LauncherHealth, ...] = ()
    """Each by itself, the preferred first."""


@dataclass(frozen=True)
class QueueRules:
    """How authors share a device. Limits count runs per author and device."""

    waiting_limit: int = 100
    """How many may wait; submitting more is refused."""
    running_limit: int | None = None
    """How many may be judged at once; None: as many as the device has slots."""
    ranked_first: bool = False
    """Ranked runs go before all others, regardless of turns."""


@dataclass(frozen=True)
class ScriptRules:
    """How people share the devices for scripts by themselves. Each has one at once."""

    per_hour: int = 20
    """How many one person may run."""
    waiting_limit: int = 10
    """How many of all people may wait for one device."""


@dataclass(frozen=True)
class QueuePlace:
    """The place of a waiting submission in the queue of the device that will judge it first."""

    device: str
    position: int
    """1 is next; counted in runs, in the order of turns. A run whose author has as many runs
    running as they may is passed over until one has ended: only `wait_s` considers that."""
    wait_s: float | None
    """An estimate of how long it still waits; None: no worker serves the device just now, or none
    has finished a run yet."""
    note: str = ""
    """Why nothing is judged on the device just now; empty: it is."""


@dataclass(frozen=True)
class DeviceStatus:
    """A configured device and how busy it is."""

    name: str
    vendor: str
    launcher: str
    """The one that would take the next run: the first that is available, else the preferred."""
    launchers: tuple[LauncherHealth, ...]
    gpus: int
    memory_bytes: int | None
    queued: int
    running: int
    available: bool
    note: str
    """Why it isn't available; empty when it is."""
    hardware: str | None = None
    """What its last result saw; None: nobody asked, or there is none yet."""


@dataclass(frozen=True)
class StandingsPage:
    """One page of a board's ranking on one device; `total` counts all ranked authors."""

    board: Board
    device: str
    total: int
    rows: tuple[Standing, ...]


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
