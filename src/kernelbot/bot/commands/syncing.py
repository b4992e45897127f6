"""A sync of problems: the plan first, then a button that applies it."""

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import discord

from kernelbot.accounts.model import User
from kernelbot.boards.sync.model import SyncAction, SyncOptions, SyncOutcome
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import Attached, answer, fenced, file_beside
from kernelbot.bot.commands import confirming
from kernelbot.bot.presses import Press, Words, require_own
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


@dataclass(frozen=True)
class _Agreed(TypedSync):
    """What a plan was shown of, which its button applies and nothing else."""

    commit: str
    digest: str


async def show_plan(
    bot: "KernelBot", interaction: discord.Interaction, actor: User, wanted: TypedSync
) -> None:
    """What a sync would change. Raises as `Sync.from_repository`."""
    options = SyncOptions(wanted.force, dry_run=True, problem_set=wanted.problem_set or None)
    plan = await bot.services.sync.from_repository(
        actor, wanted.repository or None, wanted.branch or None, options
    )
    text, whole = _text(plan)
    changes = plan.with_action(SyncAction.CREATE) + plan.with_action(SyncAction.UPDATE)
    if not changes:
        await answer(interaction, f"{text}\nThere is nothing to apply.", files=whole)
        return
    agreed = _Agreed(**asdict(wanted), commit=plan.commit or "", digest=plan.digest)
    asked = Attached.text(_FILE, json.dumps(asdict(agreed)))  # too long for a button
    label = f"Apply {len(changes)}"
    await confirming.ask(interaction, text, label, "sync", files=[asked, *whole])


async def _apply(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    """Do what the plan said, of the commit that it was made of."""
    require_own(interaction, words[0])
    plan = file_beside(interaction, "plan")
    actor = await acting(bot.services, interaction)
    held = json.loads(await plan.read())
    if "digest" not in held:  # of a release before: it doesn't say what was shown
        raise UserError("The plan is too old to be applied.", next_step=Next.BEGIN_AGAIN)
    agreed = _Agreed(**held)
    options = SyncOptions(agreed.force, problem_set=agreed.problem_set or None, plan=agreed.digest)
    done = await bot.services.sync.from_repository(
        actor, agreed.repository or None, agreed.commit or None, options
    )
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
