"""How messages are delivered: signed, again and again, and not for ever."""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from kernelbot.accounts.model import User
from kernelbot.domain.errors import Unavailable
from kernelbot.webhooks.deliveries import Deliveries, pause_s
from kernelbot.webhooks.sender import Sender
from tests.fakes.serving import Response
from tests.fakes.webhooks import FakeReceiver, fake_receiver
from tests.support.ranked import ranked
from tests.webhooks.conftest import HERE, Post

FAILING_COMMITS = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'gone' USING ERRCODE = 'admin_shutdown'; END $$;
CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON webhook_messages
INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
"""
"""A commit after a claim fails as it does when the server ends just then."""


def answering(status: int, **headers: str) -> Response:
    return Response(status, b"x" * 1000, headers)


async def tried(post: Post) -> int:
    """A webhook that was asked to be tried; its id."""
    await post.world.board()
    webhook = await post.hook()
    await post.webhooks.try_it(post.world.admin.user, webhook.id)
    return webhook.id


async def test_what_was_delivered_is_in_the_log_and_not_sent_again(post: Post) -> None:
    webhook_id = await tried(post)
    await post.deliver_all()
    await post.later(minutes=5)
    await post.deliver_all()
    (message,) = await post.webhooks.messages(post.world.admin.user, webhook_id)
    assert (200, None, None, 1) == (message.status, message.error, message.next_at, message.tries)
    assert [(message.message_id, "webhook.test")] == [
        (one.message_id, one.event) for one in post.receiver.received
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answering(500), "The answer was 500: no success."),
        (answering(302, Location="http://127.0.0.1:1/"), "a redirect, which isn't followed"),
    ],
)
async def test_what_fails_is_tried_again_with_the_same_id(
    post: Post, answer: Response, said: str
) -> None:
    webhook_id = await tried(post)
    post.receiver.answer = lambda: answer
    await post.deliver_all()
    (failed,) = await post.webhooks.messages(post.world.admin.user, webhook_id)
    post.receiver.answer = Response
    await post.later(minutes=1)
    await post.deliver_all()
    (told,) = await post.webhooks.messages(post.world.admin.user, webhook_id)
    assert (answer.status, True, True, False, 2) == (
        failed.status,
        said in (failed.error or ""),
        failed.next_at is not None,
        told.delivered_at is None,
        told.tries,
    )
    assert 1 == len({one.message_id for one in post.receiver.received})


async def test_a_receiver_that_is_not_there_or_silent_is_a_failure(
    post: Post, silent: FakeReceiver
) -> None:
    post = replace(post, deliveries=Deliveries(post.world.database, Sender(HERE, timeout_s=1.0)))
    webhook_id = await tried(post)
    post.receiver.answer = silent.answer
    await post.deliver_all()
    silent.release()
    (unanswered,) = await post.webhooks.messages(post.world.admin.user, webhook_id)
    async with post.world.database.write() as session:
        await session.do("UPDATE webhooks SET url = 'http://127.0.0.1:1/'")
    await post.later(minutes=1)
    await post.deliver_all()
    (away,) = await post.webhooks.messages(post.world.admin.user, webhook_id)
    assert ("No answer within 1 s.", "It can't be reached: ConnectError.") == (
        unanswered.error,
        away.error,
    )


async def test_pauses_grow_over_three_days_and_end() -> None:
    pauses = [pause_s(tries) for tries in range(1, 12)]
    known = [pause for pause in pauses if pause is not None]
    assert (sorted(known), None) == (known, pauses[-1])
    assert 3.0 == round(sum(known) / 86_400, 0)


async def test_two_workers_deliver_a_message_once(post: Post) -> None:
    await tried(post)
    others = Deliveries(post.world.database, Sender(HERE, timeout_s=60.0))
    await asyncio.gather(
        *(one.deliver_next() for _ in range(3) for one in (post.deliveries, others))
    )
    assert 1 == len(post.receiver.received)


async def test_what_could_not_be_claimed_after_all_is_not_in_flight(post: Post) -> None:
    """Else a receiver that has failed would never be told again by this worker."""
    await tried(post)
    post.receiver.answer = lambda: answering(500)
    await post.deliver_all()
    await post.later(minutes=1)
    async with post.world.database.write() as session:
        await session.do(FAILING_COMMITS)
    with pytest.raises(Unavailable):
        await post.deliveries.deliver_next()
    async with post.world.database.write() as session:
        await session.do("DROP FUNCTION refuse() CASCADE")
    assert [True] == [one.answer is not None for one in await post.deliver()]


async def test_a_worker_that_was_killed_has_left_a_task_for_later(post: Post) -> None:
    await tried(post)
    (message,) = await post.due()
    async with post.world.database.write() as session:  # as `deliver` does, before it is killed
        await session.do(
            "UPDATE webhook_messages SET tries = 1, next_at = now() + interval '1 minute'"
        )
    async with post.world.database.read() as session:
        row = await session.one(
            "SELECT count(*) AS tasks FROM procrastinate_jobs WHERE scheduled_at > now()"
            " AND args = jsonb_build_object('message', %(message)s::bigint)",
            {"message": message},
        )
    assert {"tasks": 1} == row


async def test_after_days_without_success_a_webhook_is_disabled_and_says_why(post: Post) -> None:
    webhook_id = await tried(post)
    post.receiver.answer = lambda: answering(500)
    await post.deliver_all()
    await post.later(days=5)
    await post.deliver_all()
    admin = post.world.admin.user
    webhook = await post.webhooks.get(admin, webhook_id)
    (message,) = await post.webhooks.messages(admin, webhook_id)
    enabled = await post.webhooks.enable(admin, webhook_id)
    assert ("Nothing could be delivered for 5 days: The answer was 500: no success.", None) == (
        webhook.disabled_reason,
        message.next_at,
    )
    assert (None, None) == (enabled.disabled_at, enabled.failing_since)


async def test_a_receiver_that_is_gone_is_told_no_more(post: Post) -> None:
    webhook_id = await tried(post)
    post.receiver.answer = lambda: answering(410)
    await post.deliver_all()
    webhook = await post.webhooks.get(post.world.admin.user, webhook_id)
    assert "The receiver answered 410: it wants no more." == webhook.disabled_reason


async def test_what_fails_of_a_webhook_that_was_disabled_meanwhile_is_given_up(post: Post) -> None:
    webhook_id = await tried(post)

    def disabled_by_another_worker() -> Response:
        with psycopg.connect(post.world.database.url) as connection:
            connection.execute("UPDATE webhooks SET disabled_at = now(), disabled_reason = 'x'")
        return answering(500)

    post.receiver.answer = disabled_by_another_worker
    await post.deliver_all()
    (message,) = await post.webhooks.messages(post.world.admin.user, webhook_id)
    assert (500, None) == (message.status, message.next_at)


async def test_who_organises_no_more_is_told_no_more(post: Post) -> None:
    await post.world.board()
    await post.hook()
    admin = post.world.admin.user
    (webhook,) = await post.webhooks.list_webhooks(admin, "sort")
    await post.webhooks.try_it(admin, webhook.id)
    async with post.world.database.write() as session:
        values = {"id": admin.id}
        await session.do("UPDATE users SET role = 'competitor' WHERE id = %(id)s", values)
    await post.deliver_all()
    async with post.world.database.read() as session:
        row = await session.one("SELECT disabled_reason FROM webhooks")
    assert ([], {"disabled_reason": f"{admin.name} may not read this any more."}) == (
        post.receiver.received,
        row,
    )


async def test_names_arrive_as_they_are(post: Post) -> None:
    name = "a'; echo <script>\u2603"
    author = (await post.world.services.users.create(name)).user
    await post.world.board()
    await post.hook()
    submitted = await post.world.submit(author)
    await post.world.services.submissions.cancel(author, submitted.id)
    await post.deliver_all()
    assert [name] == [told.data["author"] for told in post.receiver.received]


async def waiting(post: Post, actor: User, url: str, count: int) -> None:
    """So many webhooks of theirs, each with a message that is due."""
    for number in range(count):
        made = await post.webhooks.create(actor, f"{url}?{number}")
        await post.webhooks.try_it(actor, made.id)


@pytest.fixture
def silent() -> Iterator[FakeReceiver]:
    """Doesn't answer before it is `released`."""
    released = threading.Event()
    with fake_receiver() as found:
        found.answer = lambda: Response() if released.wait(60) else Response(500)
        found.release = released.set
        yield found
        released.set()


@pytest.mark.exhaustive  # each run has test_a_receiver_that_is_not_there_or_silent_is_a_failure
async def test_one_authors_silent_receivers_delay_nobody_else(
    post: Post, silent: FakeReceiver
) -> None:
    patient = replace(post, deliveries=Deliveries(post.world.database, Sender(HERE, timeout_s=60)))
    await waiting(patient, post.world.ada.user, silent.url, 5)
    await waiting(patient, post.world.bob.user, post.receiver.url, 5)
    tasks = [asyncio.create_task(patient.deliver()) for _ in range(10)]
    assert 5 == len(await asyncio.to_thread(post.receiver.wait_for, 5))
    assert 2 == len(await asyncio.to_thread(silent.wait_for, 2))
    silent.release()
    tried = [one for task in tasks for one in await task]
    assert (10, 5) == (len({one.message_id for one in tried}), len(silent.received))


@pytest.mark.exhaustive  # each run has test_a_receiver_that_is_not_there_or_silent_is_a_failure
async def test_one_silent_host_delays_no_other(post: Post, silent: FakeReceiver) -> None:
    patient = replace(post, deliveries=Deliveries(post.world.database, Sender(HERE, timeout_s=60)))
    people = [(await post.world.services.users.create(f"person-{n}")).user for n in range(6)]
    for person in people:
        await waiting(patient, person, silent.url, 2)
    await waiting(
        patient, post.world.bob.user, post.receiver.url.replace("127.0.0.1", "LOCALHOST"), 1
    )
    tasks = [asyncio.create_task(patient.deliver()) for _ in range(10)]
    assert 1 == len(await asyncio.to_thread(post.receiver.wait_for, 1))
    assert 4 == len(await asyncio.to_thread(silent.wait_for, 4))
    silent.release()
    await asyncio.gather(*tasks)
    assert 12 == len(silent.received)


@pytest.mark.exhaustive  # each run has test_a_receiver_that_is_not_there_or_silent_is_a_failure
@pytest.mark.parametrize(("people", "each", "at_once"), [(1, 3, 2), (3, 2, 4)])
async def test_so_many_messages_of_a_person_and_to_a_host_are_under_way_at_once(
    post: Post, silent: FakeReceiver, people: int, each: int, at_once: int
) -> None:
    for number in range(people):
        person = (await post.world.services.users.create(f"person-{number}")).user
        await waiting(post, person, silent.url, each)
    tasks = [asyncio.create_task(post.deliveries.deliver_next()) for _ in range(at_once)]
    assert at_once == len(await asyncio.to_thread(silent.wait_for, at_once))
    assert None is await post.deliveries.deliver_next()
    silent.release()
    assert at_once == len({tried.message_id for tried in await asyncio.gather(*tasks) if tried})
    assert None is not await post.deliveries.deliver_next()


@pytest.mark.exhaustive  # each run has test_a_receiver_that_is_not_there_or_silent_is_a_failure
async def test_of_a_webhook_that_fails_one_message_is_under_way(
    post: Post, silent: FakeReceiver
) -> None:
    await post.world.board()
    made = await post.webhooks.create(post.world.ada.user, silent.url)
    for score_s in (2e-3, 1e-3):
        await ranked(post.world, score_s)
    async with post.world.database.write() as session:
        await session.do("UPDATE webhooks SET failures = 1")
    first = asyncio.create_task(post.deliveries.deliver_next())
    assert 1 == len(await asyncio.to_thread(silent.wait_for, 1))
    assert None is await post.deliveries.deliver_next()
    silent.release()
    assert None is not await first
    assert None is not await post.deliveries.deliver_next()
    assert 2 == len(await post.webhooks.messages(post.world.ada.user, made.id))


async def test_an_attempt_is_anothers_to_make_after_a_minute(
    post: Post, silent: FakeReceiver
) -> None:
    """Which is longer than a sender waits."""
    await waiting(post, post.world.ada.user, silent.url, 1)
    sending = asyncio.create_task(post.deliveries.deliver_next())
    await asyncio.to_thread(silent.wait_for, 1)
    async with post.world.database.read() as session:
        row = await session.one(
            "SELECT extract(epoch FROM next_at - tried_at)::float8 AS s FROM webhook_messages"
        )
    silent.release()
    await sending
    assert {"s": 60.0} == row


async def test_whose_last_turn_is_the_longest_ago_is_next(post: Post) -> None:
    ada, bob = post.world.ada.user, post.world.bob.user
    await waiting(post, ada, post.receiver.url + "/ada", 3)
    await waiting(post, bob, post.receiver.url + "/bob", 2)
    async with post.world.database.write() as session:  # bob's wait for longer
        await session.do("UPDATE webhook_messages SET next_at = now() - interval '1 minute' * id")
    for _ in range(5):
        await post.deliveries.deliver_next()
    async with post.world.database.read() as session:
        rows = await session.all(
            "SELECT w.owner_id FROM webhooks w JOIN webhook_messages m ON m.webhook_id = w.id"
            " ORDER BY m.tried_at"
        )
    assert [bob.id, ada.id, bob.id, ada.id, ada.id] == [row["owner_id"] for row in rows]


async def test_a_receiver_that_fails_is_paused_and_then_told_all_that_waits(post: Post) -> None:
    await post.world.board()
    await post.hook(board=None)
    for score_s in (3e-3, 2e-3, 1e-3):
        await ranked(post.world, score_s)
    post.receiver.answer = lambda: answering(500)
    failed = await post.deliver_all()
    post.receiver.answer = Response
    nothing = await post.deliver_all()
    async with post.world.database.read() as session:
        row = await session.one(
            "SELECT count(*) AS tasks FROM procrastinate_jobs, webhooks"
            " WHERE scheduled_at = paused_until"
        )
    await post.later(minutes=1)
    told = await post.deliver()
    assert (1, [], {"tasks": 2}) == (len(failed), nothing, row)
    assert (3, 4) == (len(told), len(post.receiver.received))


@pytest.mark.exhaustive  # each run has test_a_receiver_that_is_not_there_or_silent_is_a_failure
async def test_a_receiver_that_goes_on_failing_is_tried_ever_less(post: Post) -> None:
    await tried(post)
    post.receiver.answer = lambda: answering(500)
    wrong = []
    for pause in (5, 10, 20, 40, 80, 160, 300, 300, 300):
        async with post.world.database.write() as session:
            await session.do("UPDATE webhook_messages SET next_at = now()")
            await session.do("UPDATE webhooks SET paused_until = NULL")
        begun_s = time.monotonic()
        await post.deliver()
        took_s = time.monotonic() - begun_s
        async with post.world.database.read() as session:
            row = await session.one(
                "SELECT extract(epoch FROM paused_until - told_at)::float8 AS s FROM webhooks"
            )
        assert row is not None
        if not pause <= row["s"] <= pause + took_s:
            wrong.append((pause, row["s"]))
    assert [] == wrong
