"""Clicks on buttons, choices in menus and forms that were sent.

All that a button means is in its id, so that it works for as long as its message is there, also
after a restart. Whoever clicks is checked as if they had typed the command.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import discord

from kernelbot.bot.answers import data_of
from kernelbot.bot.errors import report
from kernelbot.bot.typed import require_storable
from kernelbot.domain.errors import NotAllowed, UserError

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_SEPARATOR = "|"
Words = Sequence[str]
"""The words of a button's id, then what was chosen or written."""
Press = Callable[["KernelBot", discord.Interaction, Words], Awaitable[None]]
"""What a click does."""


def press_id(name: str, *words: object) -> str:
    """The id of a button or menu. Words are numbers or names of ours, which have no separator."""
    return _SEPARATOR.join((name, *(str(word) for word in words)))


def require_own(interaction: discord.Interaction, owner: str) -> None:
    """Raises `NotAllowed` for everyone but the person whose id the button has."""
    if str(interaction.user.id) != owner:
        raise NotAllowed("This button is someone else's.", hint="Type the command yourself.")


class Presses:
    """Finds what a click means. A button that is being handled ignores further clicks."""

    def __init__(self, handlers: dict[str, Press], forms: dict[str, Press]) -> None:
        """`forms`: those that acknowledge by showing a form."""
        self._handlers = {**handlers, **forms}
        self._forms = frozenset(forms)
        self._at_work: set[tuple[int, str]] = set()

    async def handle(self, bot: "KernelBot", interaction: discord.Interaction) -> None:
        """Acknowledge, do it, and say what went wrong."""
        try:
            if _name(interaction) not in self._forms:
                await _acknowledge(interaction)
            require_storable(interaction)
            await self._once(bot, interaction)
        except Exception as error:  # noqa: BLE001 (the one place that answers for all of them)
            await report(interaction, error)

    async def _once(self, bot: "KernelBot", interaction: discord.Interaction) -> None:
        custom_id = str(data_of(interaction).get("custom_id", ""))
        key = (interaction.message.id if interaction.message else interaction.id, custom_id)
        if key in self._at_work:
            return
        self._at_work.add(key)
        try:
            name, *words = custom_id.split(_SEPARATOR)
            handler = self._handlers.get(name)
            if handler is None:
                raise UserError("This button is of an older release.", hint="Type the command.")
            await handler(bot, interaction, [*words, *_given(interaction)])
        finally:
            self._at_work.discard(key)


def _name(interaction: discord.Interaction) -> str:
    return str(data_of(interaction).get("custom_id", "")).split(_SEPARATOR)[0]


async def _acknowledge(interaction: discord.Interaction) -> None:
    if interaction.type is discord.InteractionType.modal_submit:
        await interaction.response.defer(ephemeral=True, thinking=True)
    else:
        await interaction.response.defer()


def _given(interaction: discord.Interaction) -> list[str]:
    """What was chosen in a menu, or written in a form, in its order."""
    data = data_of(interaction)
    values = data.get("values")
    if isinstance(values, list):
        return [str(value) for value in values]
    rows = data.get("components")
    fields = [field for row in rows for field in _fields(row)] if isinstance(rows, list) else []
    return [str(field.get("value", "")) for field in fields]


def _fields(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The component of a form's row; a label has a single one."""
    found: list[Mapping[str, Any]] = row.get("components") or [row.get("component") or {}]
    return found


def shown(*items: discord.ui.Item[discord.ui.View]) -> discord.ui.View:
    """Buttons and menus of a message, which discord.py needn't remember."""
    view = discord.ui.View(timeout=None)
    for item in items:
        view.add_item(item)
    view.stop()
    return view


def button(
    label: str,
    custom_id: str,
    *,
    style: discord.ButtonStyle = discord.ButtonStyle.secondary,
    disabled: bool = False,
) -> discord.ui.Button[discord.ui.View]:
    return discord.ui.Button(label=label, custom_id=custom_id, style=style, disabled=disabled)


def menu(
    placeholder: str, custom_id: str, choices: Sequence[tuple[str, str]], *, most: int = 1
) -> discord.ui.Select[discord.ui.View]:
    """A menu of labels and values, of which Discord shows 25."""
    options = [
        discord.SelectOption(label=label[:100], value=value) for label, value in choices[:25]
    ]
    return discord.ui.Select(
        placeholder=placeholder,
        custom_id=custom_id,
        options=options,
        max_values=min(most, len(options)),
    )


def pages(
    name: str, page: int, count: int, *words: object
) -> list[discord.ui.Button[discord.ui.View]]:
    """Buttons to the pages before and after; none if all is on one page. The page's number is the
    last word of the id."""
    if count <= 1:
        return []
    before = button("Previous", press_id(name, *words, page - 1), disabled=page <= 0)
    after = button("Next", press_id(name, *words, page + 1), disabled=page >= count - 1)
    return [before, after]
