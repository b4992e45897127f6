"""`/admin`: what organisers do. Who may do it, the services decide."""

from typing import TYPE_CHECKING

import discord
from discord import app_commands

from kernelbot.accounts.model import User
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import answer, answer_however_late
from kernelbot.bot.commands import boards, confirming, forums, naming, syncing
from kernelbot.bot.commands.reviewing import show_held
from kernelbot.bot.commands.settings import change as change_settings
from kernelbot.bot.suggestions import all_boards, competitions, folders, time_zones
from kernelbot.domain.errors import UserError
from kernelbot.platform.exports.model import ExportChoice
from kernelbot.platform.statistics.model import Statistics
from kernelbot.render.charts import statistics_chart
from kernelbot.render.markdown import fence, plain
from kernelbot.render.table import table
from kernelbot.render.text import counted
from kernelbot.render.units import seconds_text

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

SubmissionNumber = app_commands.Range[int, 1, 2**53]


class Admin(app_commands.Group):
    """Boards, submissions, people and the platform."""

    def __init__(self, bot: "KernelBot") -> None:
        super().__init__(name="admin", description="For organisers")
        self._bot = bot

    @app_commands.command(description="Accept submissions again")
    async def start(self, interaction: discord.Interaction) -> None:
        """End a pause."""
        await self._bot.services.platform.resume(await self._actor(interaction))
        await answer(interaction, "▶️ Submissions are accepted again.")

    @app_commands.command(description="Accept no more submissions; earlier ones are still judged")
    @app_commands.describe(reason="Who submits meanwhile reads it")
    async def stop(self, interaction: discord.Interaction, reason: str = "") -> None:
        """Begin a pause."""
        await self._bot.services.platform.pause(await self._actor(interaction), reason)
        await answer(interaction, "⏸️ Submissions are paused. `/admin start` ends it.")

    @app_commands.command(name="delete-leaderboard", description="Delete a leaderboard")
    @app_commands.autocomplete(name=all_boards)
    async def delete_leaderboard(self, interaction: discord.Interaction, name: str) -> None:
        """After a question."""
        actor = await self._actor(interaction)
        await confirming.ask_to_delete_board(self._bot, interaction, actor, name)

    @app_commands.command(name="delete-submission", description="Delete anybody's submission")
    @app_commands.rename(number="id")
    async def delete_submission(
        self, interaction: discord.Interaction, number: SubmissionNumber
    ) -> None:
        """After a question."""
        actor = await self._actor(interaction)
        await confirming.ask_to_delete_submission(self._bot, interaction, actor, number)

    @app_commands.command(name="get-submission", description="Anybody's submission, with its code")
    @app_commands.rename(number="id")
    async def get_submission(
        self, interaction: discord.Interaction, number: SubmissionNumber
    ) -> None:
        """The submission as its author sees it, and more."""
        actor = await self._actor(interaction)
        text, files = boards.submission(await self._bot.services.submissions.get(actor, number))
        await answer(interaction, text, files=files)

    @app_commands.command(description="Submissions that wait for a decision, with the evidence")
    async def held(self, interaction: discord.Interaction) -> None:
        """Show what is held, one submission after the other."""
        await show_held(self._bot, interaction)

    @app_commands.command(name="create-local", description="A leaderboard from a folder here")
    @app_commands.describe(directory="Under the server's PROBLEM_DEV_DIR")
    @app_commands.autocomplete(directory=folders)
    async def create_local(self, interaction: discord.Interaction, directory: str) -> None:
        """For people who write problems."""
        actor = await self._actor(interaction)
        board = await self._bot.services.problem_folders.open_board(actor, directory)
        await answer(
            interaction, f"**{plain(board.name)}** is open: {boards.deadline_text(board)}."
        )

    @app_commands.command(name="update-problems", description="Plan a sync, then apply it")
    @app_commands.describe(
        repository="Default: the one that the server is configured with",
        problem_set="One competition file's name; default: all of them",
        branch="A branch, tag or commit",
        force="Also boards that have ended, or that another competition made",
    )
    async def update_problems(
        self,
        interaction: discord.Interaction,
        repository: str = "",
        problem_set: str = "",
        branch: str = "",
        force: bool = False,
    ) -> None:
        """The plan comes with a button."""
        wanted = syncing.TypedSync(repository, problem_set, branch, force)
        await syncing.show_plan(self._bot, interaction, await self._actor(interaction), wanted)

    @app_commands.command(name="show-stats", description="How much was submitted and judged")
    @app_commands.autocomplete(leaderboard=all_boards)
    async def show_stats(
        self, interaction: discord.Interaction, leaderboard: str = "", last_day: bool = False
    ) -> None:
        """By device."""
        found = await self._bot.services.statistics.show(
            await self._actor(interaction), board=leaderboard or None, last_day=last_day
        )
        chart = statistics_chart(found.board or "All leaderboards", found)
        picture = await self._bot.pictures.draw("statistics.png", chart)
        await answer(interaction, statistics_text(found), files=picture)

    @app_commands.command(description="Keep someone from submitting and from every ranking")
    @app_commands.describe(member="Someone here", name="Or the name of their account")
    async def ban(
        self,
        interaction: discord.Interaction,
        member: discord.User | None = None,
        name: str = "",
        reason: str = "",
    ) -> None:
        """Ban an account, whose owner can still read what is theirs."""
        actor = await self._actor(interaction)
        found = await self._find(actor, member, name)
        await self._bot.services.users.ban(actor, found.id, reason)
        await answer(interaction, f"⛔ {plain(found.name)} is banned.")

    @app_commands.command(description="End a ban; what counted before counts again")
    @app_commands.describe(member="Someone here", name="Or the name of their account")
    async def unban(
        self,
        interaction: discord.Interaction,
        member: discord.User | None = None,
        name: str = "",
        reason: str = "",
    ) -> None:
        """Restore the account as it was before the ban."""
        actor = await self._actor(interaction)
        found = await self._find(actor, member, name)
        await self._bot.services.users.unban(actor, found.id, reason)
        await answer(interaction, f"✅ {plain(found.name)} is no longer banned.")

    @app_commands.command(name="get-user-names", description="The names of all accounts, as JSON")
    async def get_user_names(self, interaction: discord.Interaction) -> None:
        """By the accounts' numbers."""
        await naming.write_names(self._bot, interaction, await self._actor(interaction))

    @app_commands.command(name="update-user-names", description="Name accounts as people here are")
    @app_commands.describe(names="Or a file as get-user-names writes it; only those to rename")
    async def update_user_names(
        self, interaction: discord.Interaction, names: discord.Attachment | None = None
    ) -> None:
        """Each that can be; the others are named."""
        await naming.update_names(self._bot, interaction, await self._actor(interaction), names)

    @app_commands.command(name="set-forum-ids", description="Find the forum thread of each board")
    @app_commands.describe(
        forum="Open the threads of new boards there from now on",
        open_missing="Also open threads for boards that have none",
    )
    async def set_forum_ids(
        self,
        interaction: discord.Interaction,
        forum: discord.ForumChannel | None = None,
        open_missing: bool = False,
    ) -> None:
        """By their names."""
        await forums.match_threads(
            self._bot, interaction, await self._actor(interaction), forum, open_missing=open_missing
        )

    @app_commands.command(description="What this server is told, and which boards it is about")
    @app_commands.describe(
        podium="Tell of changes at the top",
        new_boards="Open a thread for each new board",
        weekly="Sum up the week on Mondays",
        competition="Only its boards are listed and told of; all: every board",
        time_zone="Of deadlines that are typed and of the summary, as Europe/Berlin",
    )
    @app_commands.autocomplete(competition=competitions, time_zone=time_zones)
    async def settings(
        self,
        interaction: discord.Interaction,
        podium: bool | None = None,
        new_boards: bool | None = None,
        weekly: bool | None = None,
        competition: str | None = None,
        time_zone: str | None = None,
    ) -> None:
        """Shown after the change, or without one."""
        await change_settings(
            self._bot,
            interaction,
            await self._actor(interaction),
            podium=podium,
            new_boards=new_boards,
            weekly=weekly,
            competition=competition,
            time_zone=time_zone,
        )

    @app_commands.command(name="export-hf", description="Upload everything under pseudonyms")
    @app_commands.describe(filename="Ends in .parquet", public="Only once all boards have ended")
    async def export_hf(
        self,
        interaction: discord.Interaction,
        filename: str = "submissions.parquet",
        public: bool = False,
    ) -> None:
        """To the dataset that the server is configured with. That of many submissions takes longer
        than Discord's 15 minutes."""
        actor = await self._actor(interaction)
        done = await self._bot.services.exports.to_hub(
            actor, ExportChoice(), filename, private=not public
        )
        text = f"{counted(done.submissions, 'submission')}: {plain(done.where)}"
        await answer_however_late(interaction, text, ())

    async def _actor(self, interaction: discord.Interaction) -> User:
        return await acting(self._bot.services, interaction)

    async def _find(self, actor: User, member: discord.User | None, name: str) -> User:
        if (member is None) == (not name):
            raise UserError("Name someone: either a member or an account's name.")
        reference = name if member is None else f"discord:{member.id}"
        return await self._bot.services.users.find(actor, reference)


def statistics_text(found: Statistics) -> str:
    """A table by device."""
    of = f"**{plain(found.board)}**" if found.board else counted(found.boards, "leaderboard")
    since = " within 24 hours" if found.last_day else ""
    made, authors = counted(found.submissions, "submission"), counted(found.authors, "author")
    head = f"{of}: {made} by {authors}{since}"
    headers = ("device", "runs", "passed", "failed", "errors", "waiting", "wait", "run")
    rows = [
        (
            one.device,
            *(str(n) for n in (one.runs, one.passes, one.failures, one.errors, one.waiting)),
            *(seconds_text(s) if s else "" for s in (one.wait_median_s, one.run_median_s)),
        )
        for one in found.devices
    ]
    return f"{head}\n{fence(table(headers, rows, right=headers[1:], columns=76))}"
