"""`/submission`: one's own submissions."""

from typing import TYPE_CHECKING

import discord
from discord import app_commands

from kernelbot.accounts.model import User
from kernelbot.bot import report
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import Attached, answer
from kernelbot.bot.commands import boards
from kernelbot.domain.errors import NotAllowed, UserError

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

SubmissionNumber = app_commands.Range[int, 1, 2**53]


class SubmissionCommands(app_commands.Group):
    """What became of them, what changed between two, and stopping one."""

    def __init__(self, bot: "KernelBot") -> None:
        super().__init__(name="submission", description="Your submissions")
        self._bot = bot

    @app_commands.command(description="A submission with its code and its runs' reports")
    @app_commands.rename(number="id")
    async def show(self, interaction: discord.Interaction, number: SubmissionNumber) -> None:
        """All that its author may know."""
        viewer = await acting(self._bot.services, interaction)
        found = await self._bot.services.submissions.get(viewer, number, files=True)
        text, files = boards.submission(found)
        await answer(interaction, text, files=[*files, *report.files(found)])

    @app_commands.command(description="Stop a submission that waits or runs")
    @app_commands.rename(number="id")
    async def cancel(self, interaction: discord.Interaction, number: SubmissionNumber) -> None:
        """What has ended stays as it is."""
        viewer = await acting(self._bot.services, interaction)
        await self._bot.services.submissions.cancel(viewer, number)
        await answer(interaction, f"Submission {number} is cancelled.")

    @app_commands.command(description="What changed between two submissions")
    @app_commands.describe(before="The earlier one's number", after="The later one's number")
    async def diff(
        self, interaction: discord.Interaction, before: SubmissionNumber, after: SubmissionNumber
    ) -> None:
        """The submissions as a file, line by line."""
        viewer = await acting(self._bot.services, interaction)
        old, new = await self._code(viewer, before), await self._code(viewer, after)
        names = str(before), str(after)
        lines = await self._bot.texts.compared(old, new, names, asker=viewer.id)
        if lines is None:
            raise UserError(
                f"Submissions {before} and {after} are too large or too different to be compared.",
                hint="`/submission show` has the code of each.",
            )
        text = "\n".join(lines)
        if not text:
            await answer(interaction, f"Submissions {before} and {after} have the same code.")
            return
        file = Attached.text(f"{before}-{after}.diff", text + "\n")
        await answer(interaction, f"From submission {before} to {after}:", files=[file])

    async def _code(self, viewer: User, number: int) -> str:
        found = await self._bot.services.submissions.get(viewer, number)
        if found.code is None:
            raise NotAllowed(f"The code of submission {number} isn't for you.")
        return found.code
