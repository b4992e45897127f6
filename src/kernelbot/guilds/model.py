"""Discord guilds that the platform's bot serves, and their members."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class GuildChannels:
    """The channels and roles of a guild by Discord's ids. None: it isn't there yet."""

    category_id: int | None = None
    forum_id: int | None = None
    submissions_id: int | None = None
    general_id: int | None = None
    admin_role_id: int | None = None
    creator_role_id: int | None = None
    participant_role_id: int | None = None


@dataclass(frozen=True)
class GuildSettings:
    """What a guild's organisers choose."""

    podium: bool = True
    """Whether changes at the top are told."""
    new_boards: bool = True
    """Whether a new board opens a thread."""
    weekly: bool = True
    """Whether the week is summed up, on Mondays from nine o'clock on."""
    competition: str | None = None
    """The only one whose boards are listed and told of; None: all boards."""
    time_zone: str = "UTC"
    """The zone of the weekly summary and of deadlines that are typed, such as `Europe/Berlin`."""


@dataclass(frozen=True)
class GuildMember:
    """Someone in a guild, as Discord says: `name` may change, `user_id` never does."""

    guild_id: int
    user_id: int
    name: str
    role_ids: frozenset[int]


@dataclass(frozen=True)
class ChatAnswer:
    """The answer at Discord that tells of a submission while it is judged.

    `token` answers the interaction until `token_expires_at`; `public_message_id` is what goes on in
    the channel afterwards.
    """

    message_id: int
    guild_id: int
    channel_id: int
    user_id: int
    """Discord's, of the author."""
    user_name: str
    token: str | None = field(repr=False)
    token_expires_at: datetime
    submission_id: int | None = None
    """None until it has been submitted."""
    public_message_id: int | None = None


class AnnouncementKind(StrEnum):
    """What is told: a change at the top of a ranking, a new board, to one person that somebody has
    passed them, or a summary of the week."""

    PODIUM = "podium"
    BOARD = "board"
    PASSED = "passed"
    WEEKLY = "weekly"


@dataclass(frozen=True)
class Podium:
    """An author's run took the first place of a ranking, or entered the first three."""

    device: str
    author: str
    rank: int
    shared: bool
    """Whether someone before them has the same rank."""
    score_s: float
    fell: str | None
    """Who is no longer among the first three."""


@dataclass(frozen=True)
class Passed:
    """Somebody is now before the person who is told."""

    user_id: int
    """Discord's, of the person who is told."""
    device: str
    by: str
    score_s: float
    own_s: float


@dataclass(frozen=True)
class WeekOfBoard:
    """A board's week on one device. No leader: nobody is ranked."""

    board: str
    device: str
    submissions: int
    authors: int
    """How many are ranked."""
    leader: str | None
    leader_s: float | None


@dataclass(frozen=True)
class BoardThread:
    """A board that everyone sees, and its thread in a guild by Discord's id; None: none is
    known."""

    board_id: int
    board: str
    ended: bool
    thread_id: int | None


@dataclass(frozen=True)
class Announcement:
    """Something to tell in one guild. `tries` counts this one."""

    id: int
    guild_id: int
    kind: AnnouncementKind
    board: str
    """Empty for a summary."""
    tries: int
    podium: Podium | None = None
    """Set if the kind is `PODIUM`, and only then."""
    passed: Passed | None = None
    """Set if the kind is `PASSED`, and only then."""
