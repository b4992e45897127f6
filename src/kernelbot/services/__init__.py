"""Use cases, one module per noun. Each method is one transaction and checks who may do it."""

from dataclasses import dataclass

from kernelbot.services.boards import Boards
from kernelbot.services.devices import Devices
from kernelbot.services.health import Health
from kernelbot.services.problem_folders import ProblemFolders
from kernelbot.services.reviews import Reviews
from kernelbot.services.standings import StandingsService
from kernelbot.services.submissions import Submissions
from kernelbot.services.users import Users

__all__ = [
    "Boards",
    "Devices",
    "Health",
    "ProblemFolders",
    "Reviews",
    "Services",
    "StandingsService",
    "Submissions",
    "Users",
]


@dataclass(frozen=True)
class Services:
    """Everything a door may ask for; wired in `main`."""

    submissions: Submissions
    boards: Boards
    standings: StandingsService
    users: Users
    devices: Devices
    health: Health
    problem_folders: ProblemFolders
    reviews: Reviews
