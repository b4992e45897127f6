"""The use cases of all nouns. Each method is one transaction and checks who may do it."""

from dataclasses import dataclass
from typing import TypeVar

from kernelbot.accounts.logins.service import Logins
from kernelbot.accounts.service import Users
from kernelbot.accounts.tokens.service import TokenService
from kernelbot.boards.invites.service import Invites
from kernelbot.boards.limits.service import LimitService
from kernelbot.boards.problem_folders import ProblemFolders
from kernelbot.boards.service import Boards
from kernelbot.boards.summaries import ProblemSummaries
from kernelbot.boards.sync.service import Sync
from kernelbot.domain.errors import Unavailable
from kernelbot.duels.service import Duels
from kernelbot.guilds.announcements.service import Announcements
from kernelbot.guilds.chat.service import Chat
from kernelbot.guilds.service import Guilds
from kernelbot.moderation.audit.service import Audit
from kernelbot.moderation.deletion.service import Deletion
from kernelbot.moderation.rejudges.service import Rejudging
from kernelbot.moderation.reviews.service import Reviews
from kernelbot.platform.downloads.service import Downloads
from kernelbot.platform.exports.service import Exports
from kernelbot.platform.health.service import HealthService
from kernelbot.platform.service import Platform
from kernelbot.platform.statistics.service import StatisticsService
from kernelbot.ranking.activity import Activity
from kernelbot.ranking.authors.service import Authors
from kernelbot.ranking.following.service import FollowingService
from kernelbot.ranking.outcomes import Outcomes
from kernelbot.ranking.service import StandingsService
from kernelbot.ranking.trends import Trends
from kernelbot.runs.devices.service import Devices
from kernelbot.runs.nodes.service import NodeJobs
from kernelbot.submissions.artifacts.service import ArtifactService
from kernelbot.submissions.forms.service import Forms
from kernelbot.submissions.lists import SubmissionLists
from kernelbot.submissions.service import Submissions
from kernelbot.submissions.sharing.service import Sharing
from kernelbot.webhooks.service import Webhooks

T = TypeVar("T")


@dataclass(frozen=True)
class Services:
    """Everything a door may ask for; wired in `server`."""

    submissions: Submissions
    submission_lists: SubmissionLists
    artifacts: ArtifactService
    boards: Boards
    summaries: ProblemSummaries
    activity: Activity
    standings: StandingsService
    duels: Duels
    trends: Trends
    users: Users
    devices: Devices
    health: HealthService
    problem_folders: ProblemFolders
    reviews: Reviews
    tokens: TokenService
    platform: Platform
    audit: Audit
    invites: Invites
    limits: LimitService
    logins: Logins
    deletion: Deletion
    rejudging: Rejudging
    sync: Sync
    statistics: StatisticsService
    exports: Exports
    node_jobs: NodeJobs
    downloads: Downloads
    guilds: Guilds
    chat: Chat
    outcomes: Outcomes
    authors: Authors
    following: FollowingService
    announcements: Announcements
    forms: Forms
    sharing: Sharing
    webhooks: Webhooks
    extensions: tuple[object, ...]
    """Those of the packages beside the core."""

    def extension(self, kind: type[T]) -> T:
        """The service of an extension, by its class; for the extension's own routes. Raises
        `Unavailable` if this server was started without it."""
        for one in self.extensions:
            if isinstance(one, kind):
                return one
        raise Unavailable("This server was started without a part that this needs.")
