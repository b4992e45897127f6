"""Use cases, one module per noun. Each method is one transaction and checks who may do it."""

from dataclasses import dataclass

from kernelbot.services.announcements import Announcements
from kernelbot.services.artifacts import Artifacts
from kernelbot.services.attestations import Attestations
from kernelbot.services.audit import Audit
from kernelbot.services.boards import Boards
from kernelbot.services.chat import Chat
from kernelbot.services.deletion import Deletion
from kernelbot.services.devices import Devices
from kernelbot.services.downloads import Downloads
from kernelbot.services.exports.service import Exports
from kernelbot.services.forms import Forms
from kernelbot.services.guilds import Guilds
from kernelbot.services.health import Health
from kernelbot.services.invites import Invites
from kernelbot.services.limits import Limits
from kernelbot.services.logins import Logins
from kernelbot.services.moderation.reviews import Reviews
from kernelbot.services.node_jobs import NodeJobs
from kernelbot.services.platform import Platform
from kernelbot.services.problem_folders import ProblemFolders
from kernelbot.services.ranking.duels import Duels
from kernelbot.services.ranking.outcomes import Outcomes
from kernelbot.services.ranking.standings import StandingsService
from kernelbot.services.ranking.trends import Trends
from kernelbot.services.rejudging import Rejudging
from kernelbot.services.statistics import StatisticsService
from kernelbot.services.submissions import Submissions
from kernelbot.services.sync import Sync
from kernelbot.services.tokens import Tokens
from kernelbot.services.users import Users
from kernelbot.services.webhooks.service import Webhooks

__all__ = [
    "Announcements",
    "Artifacts",
    "Attestations",
    "Audit",
    "Boards",
    "Chat",
    "Deletion",
    "Devices",
    "Downloads",
    "Duels",
    "Exports",
    "Forms",
    "Guilds",
    "Health",
    "Invites",
    "Limits",
    "Logins",
    "NodeJobs",
    "Outcomes",
    "Platform",
    "ProblemFolders",
    "Rejudging",
    "Reviews",
    "Services",
    "StandingsService",
    "StatisticsService",
    "Submissions",
    "Sync",
    "Tokens",
    "Trends",
    "Users",
    "Webhooks",
]


@dataclass(frozen=True)
class Services:
    """Everything a door may ask for; wired in `main`."""

    submissions: Submissions
    artifacts: Artifacts
    boards: Boards
    standings: StandingsService
    duels: Duels
    trends: Trends
    users: Users
    devices: Devices
    health: Health
    problem_folders: ProblemFolders
    reviews: Reviews
    tokens: Tokens
    platform: Platform
    audit: Audit
    invites: Invites
    limits: Limits
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
    announcements: Announcements
    forms: Forms
    webhooks: Webhooks
    attestations: Attestations
