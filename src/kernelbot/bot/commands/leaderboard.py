"""`/leaderboard`: what everyone may do with boards."""

from typing import TYPE_CHECKING

import discord
from discord import app_commands

from kernelbot.bot.acting import acting, member_of
from kernelbot.bot.answers import answer
from kernelbot.bot.commands import boards, confirming, creating
from kernelbot.bot.commands.general import answer_help
from kernelbot.bot.commands.submit import Submit
from kernelbot.bot.suggestions import active_boards, all_boards, languages
from kernelbot.render.markdown import plain

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot


class Leaderboard(app_commands.Group):
    """Reading boards; submitting is a group below this one."""

    def __init__(self, bot: "KernelBot") -> None:
        super().__init__(name="leaderboard", description="Boards, rankings and submissions")
        self._bot = bot
        self.add_command(Submit(bot))

    @app_commands.command(name="list", description="Active leaderboards")
    async def list_boards(self, interaction: discord.Interaction) -> None:
        """Five at a time."""
        viewer = await acting(self._bot.services, interaction)
        services, guild_id = self._bot.services, interaction.guild_id
        text, view = await boards.list_page(services, viewer, guild_id, 0)
        await answer(interaction, text, view=view)

    @app_commands.command(description="A leaderboard's ranking")
    @app_commands.describe(name="The leaderboard")
    @app_commands.autocomplete(name=all_boards)
    async def show(self, interaction: discord.Interaction, name: str) -> None:
        """On its first device; a menu shows the others."""
        viewer = await acting(self._bot.services, interaction)
        text, view = await boards.ranking_page(self._bot.services, viewer, name, None, 0)
        files = await boards.ranking_file(self._bot.services, viewer, name)
        await answer(interaction, text, files=files, view=view)

    @app_commands.command(name="show-personal", description="Your submissions to a leaderboard")
    @app_commands.describe(name="The leaderboard")
    @app_commands.autocomplete(name=all_boards)
    async def show_personal(self, interaction: discord.Interaction, name: str) -> None:
        """Newest first."""
        viewer = await acting(self._bot.services, interaction)
        text, view = await boards.own_page(self._bot.services, viewer, name, None, 0)
        await answer(interaction, text, view=view)

    @app_commands.command(description="What is to be solved, with the reference files")
    @app_commands.describe(name="The leaderboard")
    @app_commands.autocomplete(name=all_boards)
    async def task(self, interaction: discord.Interaction, name: str) -> None:
        """The statement, and the files attached."""
        viewer = await acting(self._bot.services, interaction)
        problem = await self._bot.services.boards.problem(viewer, name)
        threads = await self._bot.services.announcements.threads(interaction.guild_id or 0)
        known = {one.board_id: one.thread_id for one in threads}
        text, files = boards.task(problem, known.get(problem.leaderboard.id))
        await answer(interaction, text, files=files)

    @app_commands.command(description="A file to begin with")
    @app_commands.describe(name="The leaderboard", lang="The language")
    @app_commands.autocomplete(name=active_boards, lang=languages)
    async def template(self, interaction: discord.Interaction, name: str, lang: str) -> None:
        """With the header that says where it belongs."""
        viewer = await acting(self._bot.services, interaction)
        problem = await self._bot.services.boards.problem(viewer, name)
        file = boards.template(problem, lang)
        said = "Change it, then attach it to `/leaderboard submit`."
        await answer(interaction, said, files=[file])

    @app_commands.command(description="A direct message when somebody passes you; again: no more")
    @app_commands.describe(name="The leaderboard")
    @app_commands.autocomplete(name=active_boards)
    async def watch(self, interaction: discord.Interaction, name: str) -> None:
        """On each of its devices."""
        viewer, member = await acting(self._bot.services, interaction), member_of(interaction)
        begun = await self._bot.services.announcements.watch(viewer, name, member)
        text = "You get a direct message when somebody passes you" if begun else "No more messages"
        await answer(interaction, f"{text} on **{plain(name)}**.")

    @app_commands.command(name="get-submission", description="One of your submissions")
    @app_commands.rename(number="id")
    @app_commands.describe(number="Its number")
    async def get_submission(
        self, interaction: discord.Interaction, number: app_commands.Range[int, 1, 2**53]
    ) -> None:
        """With its code."""
        viewer = await acting(self._bot.services, interaction)
        text, files = boards.submission(await self._bot.services.submissions.get(viewer, number))
        await answer(interaction, text, files=files)

    @app_commands.command(description="A leaderboard from one reference file")
    @app_commands.describe(
        name="What it is called",
        deadline="2030-12-31 or 2030-12-31 18:00, in the server's time zone",
        reference_code="A .py with ref_kernel, generate_input, check_implementation; or a .cu",
    )
    async def create(
        self,
        interaction: discord.Interaction,
        name: str,
        deadline: str,
        reference_code: discord.Attachment,
    ) -> None:
        """A menu asks for the devices."""
        await creating.ask_for_devices(self._bot, interaction, name, deadline, reference_code)

    @app_commands.command(description="Delete a leaderboard of yours")
    @app_commands.describe(name="The leaderboard")
    @app_commands.autocomplete(name=all_boards)
    async def delete(self, interaction: discord.Interaction, name: str) -> None:
        """After a question."""
        actor = await acting(self._bot.services, interaction)
        await confirming.ask_to_delete_board(self._bot, interaction, actor, name)

    @app_commands.command(name="help", description="How to take part")
    async def show_help(self, interaction: discord.Interaction) -> None:
        """What the caller may do."""
        await answer_help(self._bot, interaction)
