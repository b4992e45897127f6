"""Each thing that an organiser does is in the log, under its own name."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kernelbot.accounts.model import Role
from kernelbot.attestations.service import Attestations
from kernelbot.boards.service import BoardEdit
from kernelbot.platform.exports.model import ExportChoice, ExportFormat
from tests.support.ranked import ranked
from tests.support.world import World


async def create_user(world: World, _: Path) -> str:
    made = await world.services.users.create("carl", actor=world.admin.user)
    return f"user:{made.user.id}"


async def set_role(world: World, _: Path) -> str:
    user = await world.services.users.set_role(world.admin.user, world.ada.user.id, Role.CREATOR)
    return f"user:{user.id}"


async def rename(world: World, _: Path) -> str:
    user = await world.services.users.rename(world.admin.user, world.ada.user.id, "Ada L.")
    return f"user:{user.id}"


async def unban(world: World, _: Path) -> str:
    user = await world.services.users.unban(world.admin.user, world.ada.user.id)
    return f"user:{user.id}"


async def edit_board(world: World, _: Path) -> str:
    await world.board()
    await world.services.boards.edit(world.admin.user, "sort", BoardEdit(reveal_code=True))
    return "board:sort"


async def create_invite(world: World, _: Path) -> str:
    await world.board()
    await world.services.invites.create(world.admin.user, ("sort",))
    return "board:sort"


async def revoke_invite(world: World, _: Path) -> str:
    await world.board()
    made = await world.services.invites.create(world.admin.user, ("sort",))
    await world.services.invites.revoke(world.admin.user, made.codes[0])
    return f"invite:{made.codes[0]}"


async def delete_submissions(world: World, _: Path) -> str:
    await world.board()
    await world.submit()
    await world.services.deletion.delete_submissions_of(world.admin.user, "sort", "ada")
    return "board:sort"


async def create_webhook(world: World, _: Path) -> str:
    await world.board()
    await world.services.webhooks.create(world.admin.user, "https://example.org", board="sort")
    return "board:sort"


async def delete_webhook(world: World, _: Path) -> str:
    await world.board()
    create = world.services.webhooks.create
    made = await create(world.admin.user, "https://example.org", board="sort")
    await world.services.webhooks.delete(world.admin.user, made.id)
    return "board:sort"


async def rejudge(world: World, _: Path) -> str:
    await world.board()
    await ranked(world, 1.0)
    await world.services.rejudging.start(world.admin.user, "sort")
    return "board:sort"


async def end_rejudge(world: World, folder: Path) -> str:
    subject = await rejudge(world, folder)
    (begun,) = await world.services.rejudging.list_rejudges(world.admin.user, "sort")
    await world.services.rejudging.end(world.admin.user, "sort", begun.id)
    return subject


async def replace_key(world: World, _: Path) -> str:
    keys = await world.services.extension(Attestations).replace_key(world.admin.user)
    return f"key:{keys[0].key_id}"


async def resume(world: World, _: Path) -> str:
    await world.services.platform.resume(world.admin.user)
    return "platform"


async def export(world: World, folder: Path) -> str:
    file, choice = folder / "all.csv", ExportChoice()
    await world.services.exports.to_file(world.admin.user, choice, file, ExportFormat.CSV)
    return "export:all.csv"


@pytest.mark.parametrize(
    ("action", "do", "detail"),
    [
        ("user.create", create_user, {"name": "carl", "role": "competitor"}),
        ("user.role", set_role, {"name": "ada", "before": "competitor", "after": "creator"}),
        ("user.rename", rename, {"before": "ada", "after": "Ada L."}),
        ("user.unban", unban, {"name": "ada", "reason": ""}),
        ("board.edit", edit_board, {"reveal_code": "false -> true"}),
        ("invite.create", create_invite, {"boards": "sort", "count": 1}),
        ("invite.revoke", revoke_invite, {"boards": "sort", "was_claimed": False}),
        ("submissions.delete", delete_submissions, {"user": "ada", "submissions": 1}),
        ("webhook.create", create_webhook, {"webhook": 1, "host": "example.org"}),
        ("webhook.delete", delete_webhook, {"webhook": 1}),
        ("board.rejudge", rejudge, {"device": "CPU", "top": None, "submissions": 1}),
        ("board.rejudge.end", end_rejudge, {"device": "CPU", "rejudge": 1}),
        ("signing_key.replace", replace_key, {}),
        ("platform.resume", resume, {"reason": ""}),
        ("export.file", export, {"boards": "", "submissions": 0, "private": None}),
    ],
)
async def test_what_an_organiser_did_is_the_newest_entry(
    world: World,
    tmp_path: Path,
    action: str,
    do: Callable[[World, Path], Awaitable[str]],
    detail: dict[str, object],
) -> None:
    subject = await do(world, tmp_path)
    (newest,) = await world.services.audit.list_entries(world.admin.user, limit=1)
    assert ("root", action, subject, detail) == (
        newest.actor,
        newest.action,
        newest.subject,
        newest.detail,
    )
