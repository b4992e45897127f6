"""`/leaderboard submit`: a file or pasted code, for a board and a device."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import aiohttp
import discord
import structlog
from discord import app_commands

from kernelbot.accounts.model import User
from kernelbot.boards.model import Board
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import Attached
from kernelbot.bot.commands.boards import device_menu
from kernelbot.bot.downloads import source_of
from kernelbot.bot.following import waiting_text
from kernelbot.bot.presses import Words, press_id, require_own, shown
from kernelbot.bot.suggestions import active_boards, devices
from kernelbot.bot.tree import BY_ITSELF
from kernelbot.domain.errors import NotAllowed, UserError
from kernelbot.domain.next_steps import Next
from kernelbot.guilds.model import ChatAnswer
from kernelbot.protocol import Lang, Mode
from kernelbot.render.markdown import plain
from kernelbot.submissions.directives import read_directives
from kernelbot.submissions.model import NewSubmission

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

log = structlog.get_logger()
_TOKEN_LASTS = timedelta(minutes=14, seconds=30)
"""A little less than Discord's 15 minutes."""
_TROUBLES = (discord.HTTPException, aiohttp.ClientError, OSError)
_PASTE_MAX = 4000
_ID_MAX = 100


class Submit(app_commands.Group):
    """One command for each mode."""

    def __init__(self, bot: "KernelBot") -> None:
        super().__init__(name="submit", description="Submit a file to a leaderboard")
        self._bot = bot
        for mode, name, text in (
            (Mode.TEST, "test", "Is it correct?"),
            (Mode.BENCHMARK, "benchmark", "How fast is it? Nothing is ranked"),
            (Mode.PROFILE, "profile", "Where does the time go?"),
            (Mode.LEADERBOARD, "ranked", "Measure it on secret data, and rank it"),
        ):
            self.add_command(_command(bot, mode, name, text))


def _command(
    bot: "KernelBot", mode: Mode, name: str, text: str
) -> app_commands.Command[Submit, ..., None]:
    @app_commands.command(name=name, description=text, extras=BY_ITSELF)
    @app_commands.describe(
        leaderboard_name="Default: the file's !POPCORN header, or the one you used last",
        script="The file; without one you can paste the code",
        gpu="Default: the header's, or the one you used last",
    )
    @app_commands.autocomplete(leaderboard_name=active_boards, gpu=devices)
    async def submit(
        interaction: discord.Interaction,
        leaderboard_name: str | None = None,
        script: discord.Attachment | None = None,
        gpu: str | None = None,
    ) -> None:
        _check_channel(bot, interaction)
        if script is None:
            await interaction.response.send_modal(_form(mode, leaderboard_name, gpu))
            return
        await interaction.response.defer(ephemeral=True, thinking=True)
        content = await source_of(script)
        asked = _Asked(mode, leaderboard_name, gpu, script.filename, content)
        await _submit(bot, interaction, asked)

    return submit


class _Asked:
    """What was typed, not yet checked. Texts that are empty count as none."""

    def __init__(
        self, mode: Mode, board: str | None, gpu: str | None, file_name: str, content: bytes
    ) -> None:
        self.mode, self.file_name, self.content = mode, file_name, content
        self.board, self.gpu = board or None, gpu or None


def _check_channel(bot: "KernelBot", interaction: discord.Interaction) -> None:
    """Raises `NotAllowed` elsewhere than in the channel for submissions, if there is one."""
    places = bot.places.get(interaction.guild_id or 0)
    wanted = places.submissions_id if places else None
    if wanted is None or interaction.channel_id == wanted or interaction.guild is None:
        return
    channel = interaction.guild.get_channel(wanted)
    if channel is not None:
        raise NotAllowed(f"Submissions are accepted in #{channel.name} only.")


async def _submit(bot: "KernelBot", interaction: discord.Interaction, asked: _Asked) -> None:
    """Submit, or ask for the device first if the board has several and none was named."""
    author = await acting(bot.services, interaction)
    board, chosen_devices = await _destination(bot, author, asked)
    if board is not None and not chosen_devices:
        await _ask_for_device(interaction, board, asked)
        return
    # Nothing is said before it is stored that this message tells of a submission: until then
    # Discord shows that we think, and by itself that we are gone.
    first = await interaction.original_response()
    new = NewSubmission(
        board.name if board else asked.board,
        chosen_devices,
        asked.mode,
        asked.file_name,
        asked.content,
    )
    await _submit_as(bot, interaction, author, new, first.id)


async def _submit_as(
    bot: "KernelBot",
    interaction: discord.Interaction,
    author: User,
    new: NewSubmission,
    message_id: int,
) -> None:
    answer = ChatAnswer(
        message_id=message_id,
        guild_id=interaction.guild_id or 0,
        channel_id=interaction.channel_id or 0,
        user_id=interaction.user.id,
        user_name=interaction.user.name,
        token=interaction.token,
        token_expires_at=datetime.now(UTC) + _TOKEN_LASTS,
    )
    submission, queued = await bot.services.chat.submit(author, new, answer)
    kept = replace(answer, submission_id=submission.id)
    try:
        await interaction.edit_original_response(
            content=waiting_text(submission, queued), attachments=[], view=None
        )
    except _TROUBLES as error:  # it is submitted: who follows it tells so, here or in the channel
        log.warning("not_told_at_once", submission=submission.id, error=str(error))
    bot.follower.follow(kept, submission, queued)
    await _make_participant(bot, interaction)


async def _make_participant(bot: "KernelBot", interaction: discord.Interaction) -> None:
    """Give the role of those who take part; a server that doesn't let us does without."""
    places, member = bot.places.get(interaction.guild_id or 0), interaction.user
    role_id = places.participant_role_id if places else None
    if role_id is None or not isinstance(member, discord.Member):
        return
    if any(role.id == role_id for role in member.roles):
        return
    try:
        await member.add_roles(discord.Object(role_id), reason="They have submitted")
    except discord.HTTPException as error:
        log.warning("role_not_given", guild=interaction.guild_id, error=str(error))


async def _destination(
    bot: "KernelBot", author: User, asked: _Asked
) -> tuple[Board | None, tuple[str, ...]]:
    """The board and the devices: what was typed, else the file's header, else what the author used
    last. No board: nothing says so, and the service will. No devices: one must be chosen."""
    typed = (asked.gpu,) if asked.gpu else ()
    try:
        header = read_directives(asked.content.decode("utf-8"))
    except (UnicodeDecodeError, UserError):
        return None, typed  # the service says what is wrong with the file
    last = await bot.services.submission_lists.own(author, limit=1)
    name = asked.board or header.board or (last[0].board if last else None)
    if name is None:
        return None, typed
    board = await bot.services.boards.get(author, name)
    if typed or header.devices or len(board.devices) == 1:
        return board, typed or header.devices or board.devices
    used = {run.device for one in last if one.board == board.name for run in one.runs}
    remembered = tuple(device for device in board.devices if device in used)
    return board, remembered[:1]


async def _ask_for_device(interaction: discord.Interaction, board: Board, asked: _Asked) -> None:
    """The file goes along with the question, so that nothing has to be remembered."""
    mode = asked.mode[0]  # with the whole word the longest names don't fit into an id
    menu = device_menu(board, press_id("submit-on", interaction.user.id, mode, board.name))
    await interaction.edit_original_response(
        content=f"**{plain(board.name)}** has several devices. Which one is it for?",
        attachments=[Attached(asked.file_name, asked.content).file()],
        view=shown(menu),
    )


async def chosen(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    """A device was chosen for the file that the message has."""
    owner, mode, name, device = words
    require_own(interaction, owner)
    message = interaction.message
    if message is None or not message.attachments:
        raise UserError("The file is gone.", next_step=Next.BEGIN_AGAIN)
    author = await acting(bot.services, interaction)
    file = message.attachments[0]
    content = await source_of(file)
    new = NewSubmission(name, (device,), _mode(mode), file.filename, content)
    await _submit_as(bot, interaction, author, new, message.id)


def _mode(word: str) -> Mode:
    """The mode that a menu's id names: by its first letter, in older menus by the whole word."""
    return next(mode for mode in Mode if mode.startswith(word))


def _form(mode: Mode, board: str | None, gpu: str | None) -> discord.ui.Modal:
    """A form to paste code into."""
    custom_id = press_id("paste", mode, board or "", gpu or "")
    if len(custom_id) > _ID_MAX or custom_id.count("|") != 3:
        raise UserError(
            "There is no such leaderboard or GPU.", hint="Choose one that is suggested."
        )
    form = discord.ui.Modal(title="Paste your code", custom_id=custom_id, timeout=1.0)
    field: discord.ui.TextInput[discord.ui.Modal] = discord.ui.TextInput(
        label="The source file",
        style=discord.TextStyle.paragraph,
        placeholder="#!POPCORN leaderboard NAME",
        max_length=_PASTE_MAX,
    )
    form.add_item(field)
    form.stop()
    return form


async def pasted(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    """A form was sent. The name of the file is that of the problem's language."""
    mode, board, gpu, text = words
    _check_channel(bot, interaction)
    content = text.encode("utf-8", "surrogatepass")
    asked = _Asked(Mode(mode), board, gpu, "submission.py", content)
    author = await acting(bot.services, interaction)
    found, _ = await _destination(bot, author, asked)
    if found is not None:
        problem = await bot.services.boards.problem(author, found.name)
        asked.file_name = f"submission{Lang(problem.lang).suffixes[0]}"
    await _submit(bot, interaction, asked)


PRESSES = {"submit-on": chosen, "paste": pasted}
