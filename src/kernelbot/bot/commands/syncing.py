"""A sync of problems: the plan first, then a button that applies it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import discord

from kernelbot.accounts.model import User
from kernelbot.boards.sync.model import SyncAction, SyncOptions, SyncOutcome
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import Attached, answer, fenced
from kernelbot.bot.commands import confirming
from kernelbot.bot.presses import Press, require_own
from kernelbot.domain.errors import UserError
from kernelbot.domain.next_steps import Next
from kernelbot.render.markdown import MESSAGE_LIMIT, plain

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_FILE = "plan.json"
_SIGNS = {
    SyncAction.CREATE: "+",
    SyncAction.UPDATE: "~",
    SyncAction.SKIP: " ",
    SyncAction.ERROR: "!",
}


@dataclass(frozen=True)
class TypedSync:
    """What was typed; empty: the default."""

    repository: str
    problem_set: str
    branch: str
    force: bool

    def options(self, *, dry_run: bool) -> SyncOptions:
        """The options as the service takes them."""
        return SyncOptions(force=self.force, dry_run=dry_run, problem_set=self.problem_set or None)


async def _sync(bot: "KernelBot", actor: User, wanted: TypedSync, *, dry_run: bool) -> SyncOutcome:
    return await bot.services.sync.from_repository(
        actor, wanted.repository or None, wanted.branch or None, wanted.options(dry_run=dry_run)
    )


async def show_plan(
    bot: "KernelBot", interaction: discord.Interaction, actor: User, wanted: TypedSync
) -> None:
    """What a sync would change. Raises as `Sync.from_repository`."""
    plan = await _sync(bot, actor, wanted, dry_run=True)
    text, whole = _text(plan)
    changes = plan.with_action(SyncAction.CREATE) + plan.with_action(SyncAction.UPDATE)
    if not changes:
        await answer(interaction, f"{text}\nThere is nothing to apply.", files=whole)
        return
    asked = Attached.text(_FILE, json.dumps(asdict(wanted)))  # too long for a button
    label = f"Apply {len(changes)}"
    await confirming.ask(interaction, text, label, "sync", files=[asked, *whole])


async def _apply(bot: "KernelBot", interaction: discord.Interaction, words: Sequence[str]) -> None:
    require_own(interaction, words[0])
    message = interaction.message
    if message is None or not message.attachments:
        raise UserError("The plan is gone.", next_step=Next.BEGIN_AGAIN)
    actor = await acting(bot.services, interaction)
    wanted = TypedSync(**json.loads(await message.attachments[0].read()))
    done = await _sync(bot, actor, wanted, dry_run=False)
    text, whole = _text(done)
    files = [one.file() for one in whole]
    await interaction.edit_original_response(content=text, view=None, attachments=files)


def _text(outcome: SyncOutcome) -> tuple[str, list[Attached]]:
    commit = f" at {outcome.commit[:12]}" if outcome.commit else ""
    verb = "Done" if outcome.applied else "Plan"
    head = f"{verb}: {plain(outcome.source)}{commit}"
    lines = [
        f"{_SIGNS[item.action]} {item.action}: {item.board}"
        + (f" ({item.reason})" if item.reason else "")
        for item in outcome.items
    ]
    room = MESSAGE_LIMIT - len(head) - 100
    block, files = fenced("\n".join(lines) or "nothing", room, "plan.txt")
    return f"{head}\n{block}", files


PRESSES: dict[str, Press] = {"sync": _apply}
