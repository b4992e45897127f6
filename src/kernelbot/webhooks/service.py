"""Webhooks, as people have them: of a board for its organisers, of one's own submissions for
everyone."""

import base64
import secrets
from collections.abc import Sequence

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import organises, require_unbanned
from kernelbot.boards.service import organised_board
from kernelbot.domain.errors import Conflict, NotFound, UserError
from kernelbot.domain.ids import can_be_id
from kernelbot.domain.next_steps import Next
from kernelbot.moderation.audit import service as audit
from kernelbot.store.database import Database, ReadSession
from kernelbot.webhooks import store as webhooks
from kernelbot.webhooks.addresses import checked_url
from kernelbot.webhooks.model import (
    BOARD_EVENTS,
    OWN_EVENTS,
    NewWebhook,
    OwnedWebhook,
    Webhook,
    WebhookEvent,
    WebhookMessage,
    WebhookRules,
)

_MAX_WEBHOOKS = 20
_SHOWN = 100


class Webhooks:
    """A board's webhooks belong to all of its organisers; whoever made one must remain one of them,
    or it is told nothing more."""

    def __init__(self, database: Database, rules: WebhookRules | None = None) -> None:
        self._database = database
        self._rules = rules or WebhookRules()

    async def create(
        self,
        actor: User,
        url: str,
        *,
        board: str | None = None,
        events: Sequence[WebhookEvent] = (),
    ) -> NewWebhook:
        """A webhook, with the secret that is returned only now. `board` None: for the actor's own
        submissions; no `events`: all that there are for it.

        Raises `UserError`, `Conflict` if there are too many or the address is told of the same
        already, `NotFound`, `NotAllowed`.
        """
        require_unbanned(actor)
        url = checked_url(url, self._rules)
        chosen = _chosen(events, OWN_EVENTS if board is None else BOARD_EVENTS)
        secret = secrets.token_bytes(32)
        async with self._database.write() as session:
            found = None if board is None else await organised_board(session, actor, board)
            board_id = found.id if found else None
            await webhooks.lock(session, owner_id=actor.id, leaderboard_id=board_id)
            others = (
                webhooks.of_board(session, found.id)
                if found
                else webhooks.of_owner(session, actor.id)
            )
            _check_new(url, chosen, await others)
            webhook_id = await webhooks.add(
                session,
                owner_id=actor.id,
                leaderboard_id=board_id,
                url=url,
                events=chosen,
                secret=secret,
                max_webhooks=_MAX_WEBHOOKS,
            )
            if webhook_id is None:
                raise Conflict(
                    f"There are {_MAX_WEBHOOKS} webhooks already.", next_step=Next.DELETE_WEBHOOKS
                )
            made = await webhooks.one(session, webhook_id)
            assert made is not None, "it was added in this transaction"
            if found is not None:
                detail: audit.Detail = {"webhook": webhook_id, "host": url.split("/")[2]}
                await audit.record(session, actor, "webhook.create", f"board:{found.name}", detail)
        text = "whsec_" + base64.b64encode(secret).decode()
        return NewWebhook(**vars(made.webhook), secret=text)

    async def list_webhooks(self, actor: User, board: str | None = None) -> list[Webhook]:
        """A board's, or the actor's own, the newest first. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            if board is None:
                found = await webhooks.of_owner(session, actor.id)
            else:
                organised = await organised_board(session, actor, board)
                found = await webhooks.of_board(session, organised.id)
        return [one.webhook for one in found]

    async def list_disabled(self, actor: User) -> list[Webhook]:
        """The webhooks of the actor's boards which are sent nothing any more, the newest
        first."""
        async with self._database.read() as session:
            found = await webhooks.disabled(session)
        return [one.webhook for one in found if may_have(actor, one)]

    async def get(self, actor: User, webhook_id: int) -> Webhook:
        """Raises `NotFound`, also for one that isn't the actor's to see."""
        async with self._database.read() as session:
            return await _mine(session, actor, webhook_id)

    async def messages(self, actor: User, webhook_id: int) -> list[WebhookMessage]:
        """The last messages and how their delivery went, the newest first. Raises `NotFound`."""
        async with self._database.read() as session:
            webhook = await _mine(session, actor, webhook_id)
            return await webhooks.messages(session, webhook.id, limit=_SHOWN)

    async def delete(self, actor: User, webhook_id: int) -> None:
        """Delete it with its messages. Raises `NotFound`."""
        async with self._database.write() as session:
            webhook = await _mine(session, actor, webhook_id)
            await webhooks.delete(session, webhook.id)
            if webhook.board is not None:
                subject = f"board:{webhook.board}"
                await audit.record(
                    session, actor, "webhook.delete", subject, {"webhook": webhook.id}
                )

    async def enable(self, actor: User, webhook_id: int) -> Webhook:
        """Tell a disabled webhook again, of what happens from now on. Raises `NotFound`."""
        async with self._database.write() as session:
            webhook = await _mine(session, actor, webhook_id)
            await webhooks.enable(session, webhook.id)
            return await _mine(session, actor, webhook_id)

    async def try_it(self, actor: User, webhook_id: int) -> Webhook:
        """Send a message that says nothing. Raises `NotFound`, `Conflict` if it is disabled or the
        last such message waits yet."""
        async with self._database.write() as session:
            webhook = await _mine(session, actor, webhook_id)
            if webhook.disabled_at is not None:
                raise Conflict(
                    f"Webhook {webhook.id} is disabled: {webhook.disabled_reason}",
                    next_step=Next.ENABLE_WEBHOOK,
                )
            if not await webhooks.try_it(session, webhook.id):
                raise Conflict(
                    "The last message that was sent to try it waits yet.",
                    next_step=Next.SHOW_WEBHOOK_LOG,
                )
        return webhook


def may_have(actor: User, owned: OwnedWebhook) -> bool:
    """Whether this person may read what the webhook is told, and change it."""
    if owned.creator_id is not None:
        return organises(actor, owned.creator_id)
    return actor.id == owned.owner_id and actor.banned_at is None


async def _mine(session: ReadSession, actor: User, webhook_id: int) -> Webhook:
    owned = await webhooks.one(session, webhook_id) if can_be_id(webhook_id) else None
    if owned is None or not may_have(actor, owned):
        raise no_webhook(webhook_id)
    return owned.webhook


def no_webhook(webhook_id: int) -> NotFound:
    """For one that isn't there, or isn't theirs to see."""
    return NotFound(f"You have no webhook {webhook_id}.", next_step=Next.LIST_WEBHOOKS)


def _check_new(url: str, events: tuple[WebhookEvent, ...], others: Sequence[OwnedWebhook]) -> None:
    """Raises `Conflict` for one that would be told everything twice, as by a form sent twice."""
    for other in (one.webhook for one in others):
        if other.url == url and set(other.events) == set(events):
            raise Conflict(
                f"Webhook {other.id} tells this address of the same already.",
                next_step=Next.REPLACE_WEBHOOK,
            )


def _chosen(
    events: Sequence[WebhookEvent], possible: Sequence[WebhookEvent]
) -> tuple[WebhookEvent, ...]:
    impossible = [event for event in events if event not in possible]
    if impossible:
        raise UserError(
            f"This webhook can't be told of {impossible[0]}.",
            hint=f"Choose among {', '.join(possible)}; more with a board.",
        )
    return tuple(event for event in possible if event in events) or tuple(possible)
