"""Webhooks: `webhook create|list|log|test|enable|delete`."""

from __future__ import annotations

from typing import Annotated

from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.terminal import columns
from kernelbot.webhooks.model import WebhookEvent

WebhookId = Annotated[int, Argument(min=1, metavar="ID", help="From `webhook list`.")]
BoardOption = Annotated[
    str | None,
    Option("--board", "-b", help="A board's, for its organisers. Default: your own."),
]


def register(app: Commands) -> None:
    """Add the commands."""
    group = Commands("Tell addresses of verdicts, records and deadlines.")
    group.command(
        epilog=examples(
            "kernelbot webhook create https://ci.example.org/kernels",
            "kernelbot webhook create https://ci.example.org/kernels --board autumn-sort"
            " --event ranking.record",
        )
    )(create)
    group.command("list", epilog=examples("kernelbot webhook list --board autumn-sort"))(
        list_webhooks
    )
    group.command(epilog=examples("kernelbot webhook log 3"))(log)
    group.command("test", epilog=examples("kernelbot webhook test 3"))(try_it)
    group.command(epilog=examples("kernelbot webhook enable 3"))(enable)
    group.command(epilog=examples("kernelbot webhook delete 3"))(delete)
    app.add(group, "webhook")


def create(
    address: Annotated[str, Argument(metavar="URL", help="Where messages are posted to.")],
    board: BoardOption = None,
    events: Annotated[
        list[WebhookEvent] | None,
        Option("--event", help="What it is told of; may be repeated. Default: all."),
    ] = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Create a webhook; its secret is shown only now."""
    with connected(url, as_json) as (terminal, client):
        made = client.create_webhook(address, board=board, events=events or [])
    terminal.show(f"Webhook {made.id}. Its secret, shown only now:\n\n    {made.secret}\n")
    terminal.answer(f"Try it: kernelbot webhook test {made.id}", made)


def list_webhooks(board: BoardOption = None, url: Url = None, as_json: Json = False) -> None:
    """List webhooks, without their secrets."""
    from kernelbot.render.table import table
    from kernelbot.render.text import one_line

    with connected(url, as_json) as (terminal, client):
        found = client.webhooks(board)
    rows = [
        (
            str(one.id),
            one_line(one.url),
            ", ".join(one.events),
            one_line(one.owner),
            _state(one.disabled_reason, failing=one.failing_since is not None),
        )
        for one in found.webhooks
    ]
    heads = ("id", "address", "events", "of", "state")
    none = "There are none. Create one: kernelbot webhook create URL"
    terminal.answer(table(heads, rows, right=("id",), columns=columns()) if rows else none, found)


def log(number: WebhookId, url: Url = None, as_json: Json = False) -> None:
    """Show the last messages: what was delivered, what failed why, and what is tried when."""
    from kernelbot.render.table import table

    with connected(url, as_json) as (terminal, client):
        found = client.webhook_messages(number)
    rows = [
        (
            f"{one.created_at:%Y-%m-%d %H:%M:%S}",
            one.event,
            str(one.tries),
            "delivered" if one.delivered_at else one.error or "waiting",
            f"{one.next_at:%Y-%m-%d %H:%M:%S}" if one.next_at else "",
        )
        for one in found.messages
    ]
    heads = ("at (UTC)", "event", "tries", "outcome", "next")
    none = f"It was told nothing yet. Try it: kernelbot webhook test {number}"
    terminal.show(table(heads, rows, right=("tries",), columns=columns()) if rows else none)
    terminal.document(found)


def try_it(number: WebhookId, url: Url = None, as_json: Json = False) -> None:
    """Send a message that says nothing, to try it."""
    with connected(url, as_json) as (terminal, client):
        found = client.test_webhook(number)
    terminal.answer(f"A message is on its way. See: kernelbot webhook log {number}", found)


def enable(number: WebhookId, url: Url = None, as_json: Json = False) -> None:
    """Tell a disabled webhook again, of what happens from now on."""
    with connected(url, as_json) as (terminal, client):
        found = client.enable_webhook(number)
    terminal.answer(f"Webhook {number} is enabled.", found)


def delete(number: WebhookId, url: Url = None, as_json: Json = False) -> None:
    """Delete a webhook and its log."""
    with connected(url, as_json) as (terminal, client):
        client.delete_webhook(number)
    terminal.answer(f"Webhook {number} is deleted.", {"webhook_id": number, "deleted": True})


def _state(disabled_reason: str | None, *, failing: bool) -> str:
    from kernelbot.render.text import one_line

    if disabled_reason is not None:
        return f"disabled: {one_line(disabled_reason)}"
    return "failing" if failing else "ok"
