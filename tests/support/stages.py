"""People of every role, and for one of them an open and a closed board with things on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kernelbot.accounts.model import NewToken, Role, User
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from tests.support.problems import sort_problem
from tests.support.world import World

SUBMISSIONS = ("submission", "refused", "spare", "spare_of_popcorn", "spare_of_admin")
"""What lies on each board: accepted, refused, and those that may be deleted."""


class Asker(StrEnum):
    """Who asks, in the order of the table's columns."""

    NOBODY = "nobody"
    AUTHOR = "author"
    OTHER = "other"
    MEMBER = "member"
    BANNED = "banned"
    MAKER = "maker"
    CREATOR = "creator"
    EX_MAKER = "ex-maker"
    ADMIN = "admin"
    OPERATOR = "operator"
    BANNED_MAKER = "banned-maker"
    BANNED_ADMIN = "banned-admin"


@dataclass(frozen=True)
class Stage:
    """What is asked for. `things`: names and ids by what they are, as paths name them."""

    visibility: Visibility
    things: Mapping[str, str]


@dataclass(frozen=True)
class Cast:
    """Everybody's token, and what one of them asks for."""

    tokens: Mapping[Asker, str]
    stages: Mapping[Visibility, Stage]


_ROLES = {
    Asker.MAKER: Role.CREATOR,
    Asker.CREATOR: Role.CREATOR,
    Asker.EX_MAKER: Role.CREATOR,
    Asker.ADMIN: Role.ADMIN,
    Asker.BANNED_MAKER: Role.CREATOR,
    Asker.BANNED_ADMIN: Role.ADMIN,
}
_MADE_BY_THEMSELVES = (Asker.EX_MAKER, Asker.BANNED_MAKER)


async def set_stages(world: World, asker: Asker) -> Cast:
    """Make everybody, the asker's stages, and then what everybody has become."""
    create = world.services.users.create
    people: dict[Asker, NewToken] = {
        one: await create(one, _ROLES.get(one, Role.COMPETITOR))
        for one in Asker
        if one not in (Asker.NOBODY, Asker.OPERATOR)
    }
    victim = (await create("victim")).user
    stages = {
        visibility: await _stage(world, people, victim, asker, visibility)
        for visibility in Visibility
    }
    for banned in (Asker.BANNED, Asker.BANNED_MAKER, Asker.BANNED_ADMIN):
        await world.services.users.ban(world.admin.user, people[banned].user.id)
    await world.services.users.set_role(
        world.admin.user, people[Asker.EX_MAKER].user.id, Role.COMPETITOR
    )
    return Cast({one: token.token for one, token in people.items()}, stages)


async def _stage(
    world: World,
    people: Mapping[Asker, NewToken],
    victim: User,
    asker: Asker,
    visibility: Visibility,
) -> Stage:
    maker = people[asker if asker in _MADE_BY_THEMSELVES else Asker.MAKER].user
    name = f"{asker}-{visibility}"
    board = await world.services.boards.create(
        maker, sort_problem("sort"), name=name, devices=("CPU",)
    )
    author = people[Asker.AUTHOR].user
    things = {thing: await _accepted(world, board.id, author) for thing in SUBMISSIONS}
    await _accepted(world, board.id, victim)
    if asker in people:  # who has submissions isn't deleted without force
        await _accepted(world, board.id, people[asker].user)
    await world.services.reviews.refuse(world.admin.user, int(things["refused"]), "because")
    invites = await world.services.invites.create(world.admin.user, (name,), 4)
    for member, code in zip((Asker.AUTHOR, Asker.MEMBER), invites.codes, strict=False):
        await world.services.invites.join(people[member].user, code)
    await world.services.boards.edit(world.admin.user, name, BoardEdit(visibility=visibility))
    things |= {
        "board": board.name,
        "board_id": str(board.id),
        "run_id": await _artifact(world, int(things["submission"])),
        "duel_id": await _duel(world, int(things["submission"]), int(things["refused"])),
        "name": "out.txt",
        "user_id": str(victim.id),
        "code": invites.codes[2],
        "other_code": invites.codes[3],
    }
    return Stage(visibility, things)


async def _accepted(world: World, board_id: int, author: User) -> str:
    """A submission without a score, so that nobody is ranked; returns its id."""
    async with world.database.write() as session:
        row = await session.one(
            "WITH c AS (INSERT INTO sources VALUES (sha256('x'), 'x') ON CONFLICT DO NOTHING),"
            " s AS (INSERT INTO submissions (leaderboard_id, problem_version_id, author_id,"
            " source_sha256, file_name, mode) SELECT id, problem_version_id, %(author)s,"
            " sha256('x'), 'x.py', 'leaderboard' FROM leaderboards WHERE id = %(board)s"
            " RETURNING id), r AS (INSERT INTO runs (submission_id, device, secret, priority,"
            " state, verdict, finished_at) SELECT s.id, 'CPU', secret, 0, 'finished', 'accepted',"
            " now() FROM s, unnest('{f,t}'::boolean[]) secret) SELECT id FROM s",
            {"author": author.id, "board": board_id},
        )
    assert row is not None
    return str(row["id"])


async def _artifact(world: World, submission_id: int) -> str:
    """A file of the public run; returns the run's id."""
    async with world.database.write() as session:
        row = await session.one(
            "INSERT INTO artifacts SELECT id, 'out.txt', 'text/plain', 'x' FROM runs"
            " WHERE submission_id = %(id)s AND NOT secret RETURNING run_id",
            {"id": submission_id},
        )
    assert row is not None
    return str(row["run_id"])


async def _duel(world: World, submission_id: int, opponent_id: int) -> str:
    """A duel of the two that has ended; returns its id."""
    async with world.database.write() as session:
        row = await session.one(
            "INSERT INTO duels (leaderboard_id, device, reason, submission_id, opponent_id, run_id,"
            " opponent_run_id, state, ended_at, note)"
            " SELECT s.leaderboard_id, r.device, 'own_best', s.id, o.submission_id, r.id, o.id,"
            " 'failed', now(), 'nobody knows why' FROM submissions s"
            " JOIN runs r ON r.submission_id = s.id AND r.secret"
            " JOIN runs o ON o.submission_id = %(opponent)s AND o.secret"
            " WHERE s.id = %(id)s RETURNING id",
            {"id": submission_id, "opponent": opponent_id},
        )
    assert row is not None
    return str(row["id"])
