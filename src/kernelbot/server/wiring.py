"""Settings become pools, pools become services: the only place that wires, with `worker_wiring`."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from kernelbot.accounts.logins.providers import LoginRules
from kernelbot.accounts.logins.service import Logins
from kernelbot.accounts.service import Users
from kernelbot.accounts.tokens.service import TokenService
from kernelbot.boards.invites.service import Invites
from kernelbot.boards.limits.service import LimitService
from kernelbot.boards.problem_folders import ProblemFolders
from kernelbot.boards.service import Boards
from kernelbot.boards.summaries import ProblemSummaries
from kernelbot.boards.sync.service import Sync
from kernelbot.duels.service import Duels
from kernelbot.extensions import installed
from kernelbot.guilds.announcements.service import Announcements
from kernelbot.guilds.chat.service import Chat
from kernelbot.guilds.service import Guilds
from kernelbot.moderation.audit.service import Audit
from kernelbot.moderation.deletion.service import Deletion
from kernelbot.moderation.rejudges.service import Rejudging
from kernelbot.moderation.reviews.service import Reviews
from kernelbot.platform.downloads.service import Downloads
from kernelbot.platform.exports.model import ExportRules
from kernelbot.platform.exports.service import Exports
from kernelbot.platform.health.service import HealthService
from kernelbot.platform.notifications import Listener
from kernelbot.platform.service import Platform
from kernelbot.platform.statistics.service import StatisticsService
from kernelbot.ranking.activity import Activity
from kernelbot.ranking.authors.service import Authors
from kernelbot.ranking.following.service import FollowingService
from kernelbot.ranking.outcomes import Outcomes
from kernelbot.ranking.service import StandingsService
from kernelbot.ranking.trends import Trends
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.devices.service import Devices
from kernelbot.runs.nodes.service import NodeJobs
from kernelbot.runs.queue.model import QueueRules
from kernelbot.server.client_wheel import build_client_wheel, build_whole_wheel
from kernelbot.server.settings import Settings
from kernelbot.server.worker_wiring import harness
from kernelbot.services import Services
from kernelbot.store.database import Database
from kernelbot.store.timeouts import DatabaseTimeouts
from kernelbot.submissions.artifacts.service import ArtifactService
from kernelbot.submissions.forms.service import Forms
from kernelbot.submissions.lists import SubmissionLists
from kernelbot.submissions.service import Submissions
from kernelbot.submissions.sharing.service import Sharing
from kernelbot.webhooks.model import WebhookRules
from kernelbot.webhooks.service import Webhooks

_POOL_SIZE = 5
"""Connections of an API process. If more of them are busy than there are cores, requests wait for
a processor inside Postgres in no fixed order, instead of here in turn."""
_EVENTS = "kernelbot_events"


@dataclass(frozen=True)
class Core:
    database: Database
    services: Services


@asynccontextmanager
async def open_services(
    url: str,
    devices: tuple[DeviceConfig, ...],
    *,
    problem_dev_dir: Path = Path("examples"),
    queue_rules: QueueRules | None = None,
    problems_repo: str | None = None,
    export_rules: ExportRules | None = None,
    login_rules: LoginRules | None = None,
    webhook_rules: WebhookRules | None = None,
    limits: DatabaseTimeouts | None = None,
) -> AsyncIterator[Core]:
    """Everything a door needs, with the database at `url`, closed at the end."""
    async with (
        Database(url, max_size=_POOL_SIZE, limits=limits) as database,
        Listener(url, _EVENTS) as listener,
    ):
        events = listener.channel(_EVENTS)
        device_service = Devices(database, devices)
        boards = Boards(database, devices)
        standings = StandingsService(database)
        submissions = Submissions(database, events, devices, queue_rules)
        trends, authors = Trends(database, standings), Authors(database)
        rules = login_rules or LoginRules()
        yield Core(
            database,
            Services(
                submissions=submissions,
                submission_lists=SubmissionLists(database),
                artifacts=ArtifactService(database),
                boards=boards,
                summaries=ProblemSummaries(database),
                activity=Activity(database),
                standings=standings,
                duels=Duels(database),
                trends=trends,
                users=Users(database),
                devices=device_service,
                health=HealthService(database, device_service),
                problem_folders=ProblemFolders(boards, problem_dev_dir),
                reviews=Reviews(database),
                tokens=TokenService(database),
                platform=Platform(database),
                audit=Audit(database),
                invites=Invites(database),
                limits=LimitService(database),
                logins=Logins(database, rules),
                deletion=Deletion(database),
                rejudging=Rejudging(database),
                sync=Sync(database, devices, problems_repo),
                statistics=StatisticsService(database),
                exports=Exports(database, export_rules),
                node_jobs=NodeJobs(database),
                downloads=Downloads(build_client_wheel, build_whole_wheel, harness),
                guilds=Guilds(database, rules.registration),
                chat=Chat(database, submissions),
                announcements=Announcements(database, events),
                outcomes=Outcomes(database, submissions),
                authors=authors,
                following=FollowingService(database, authors, trends),
                forms=Forms(database, submissions),
                sharing=Sharing(database),
                webhooks=Webhooks(database, webhook_rules),
                extensions=tuple(one.service(database) for one in installed()),
            ),
        )


def open_platform(settings: Settings, url: str) -> AbstractAsyncContextManager[Core]:
    return open_services(
        url,
        settings.device_configs(),
        problem_dev_dir=settings.problem_dev_dir,
        queue_rules=settings.queue.rules(),
        problems_repo=settings.problems_repo,
        export_rules=settings.export_rules(),
        login_rules=settings.login_rules(),
        webhook_rules=settings.webhooks.rules(),
        limits=settings.database.limits(),
    )
