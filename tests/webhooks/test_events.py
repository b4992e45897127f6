"""What webhooks are told of, in the transaction that causes it."""

from datetime import UTC, datetime, timedelta

from kernelbot.boards.service import BoardEdit
from kernelbot.webhooks.model import WebhookEvent
from tests.support.ranked import ranked
from tests.webhooks.conftest import Post

FINISHED = (WebhookEvent.SUBMISSION_FINISHED,)
RECORDS = (WebhookEvent.RANKING_RECORD,)


async def test_a_verdict_is_told_once_with_all_runs(post: Post) -> None:
    await post.world.board()
    await post.hook(events=FINISHED)
    submission = await ranked(post.world, 1e-3)
    await post.deliver_all()
    (told,) = post.receiver.received
    runs = [(run["secret"], run["verdict"], run["score_s"]) for run in told.data["runs"]]
    assert ("submission.finished", submission, "ada", "sort") == (
        told.event,
        told.data["submission_id"],
        told.data["author"],
        told.data["board"],
    )
    assert [(False, "accepted", 1e-3), (True, "accepted", 1e-3)] == runs


async def test_how_a_secret_run_failed_stays_secret(post: Post) -> None:
    await post.world.board()
    await post.hook(board=None, events=FINISHED)
    sent = await post.world.submit()
    async with post.world.database.write() as session:
        await session.do("UPDATE runs SET state = 'dispatched'")
        await session.do(
            "UPDATE runs SET state = 'finished', finished_at = now(), fault = 'author',"
            " verdict = CASE WHEN secret THEN 'memory_limit' ELSE 'time_limit' END::run_verdict"
        )
    await post.deliver_all()
    (told,) = post.receiver.received
    assert sent.id == told.data["submission_id"]
    assert [(False, "time_limit"), (True, "wrong_answer")] == [
        (run["secret"], run["verdict"]) for run in told.data["runs"]
    ]


async def test_nothing_is_told_while_a_run_is_open(post: Post) -> None:
    await post.world.board()
    await post.hook(events=FINISHED)
    submitted = await post.world.submit(post.world.ada.user)
    assert [] == await post.due()
    await post.world.services.submissions.cancel(post.world.ada.user, submitted.id)
    await post.deliver_all()
    assert ["cancelled", "cancelled"] == [
        run["state"] for told in post.receiver.received for run in told.data["runs"]
    ]


async def test_an_author_is_told_of_their_own_submissions_alone(post: Post) -> None:
    await post.world.board()
    await post.hook(board=None)
    await ranked(post.world, 2e-3, author=post.world.bob.user)
    mine = await ranked(post.world, 1e-3)
    await post.deliver_all()
    assert [mine] == [told.data["submission_id"] for told in post.receiver.received]


async def test_only_the_best_of_all_is_a_record(post: Post) -> None:
    await post.world.board()
    await post.hook(events=RECORDS)
    for score_s, author in ((3e-3, "ada"), (4e-3, "bob"), (2e-3, "bob"), (2.5e-3, "ada")):
        await ranked(post.world, score_s, author=getattr(post.world, author).user)
    await post.deliver_all()
    told = [
        (one.data["author"], one.data["score_s"], one.data["previous_author"])
        for one in post.receiver.received
    ]
    assert [("ada", 3e-3, None), ("bob", 2e-3, "ada")] == told


async def test_who_moves_up_because_another_leaves_has_no_record(post: Post) -> None:
    await post.world.board()
    await ranked(post.world, 2e-3, author=post.world.bob.user)
    best = await ranked(post.world, 1e-3)
    await post.hook(events=RECORDS)
    await post.world.services.deletion.delete_submission(post.world.admin.user, best)
    assert [] == await post.due()


async def test_another_boards_webhook_is_told_nothing(post: Post) -> None:
    await post.world.board()
    await post.world.board("other")
    await post.hook(board="other")
    await ranked(post.world, 1e-3)
    assert [] == await post.due()


async def test_a_deadline_is_told_when_it_is_near_and_when_it_has_passed(post: Post) -> None:
    await post.world.board()
    await post.hook()
    near = datetime.now(UTC) + timedelta(hours=20)
    await post.world.services.boards.edit(post.world.admin.user, "sort", BoardEdit(deadline=near))
    for _ in range(2):
        await post.deliveries.tell_deadlines()
    async with post.world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now()")
        await session.do("UPDATE webhooks SET created_at = now() - interval '1 second'")
    for _ in range(2):
        await post.deliveries.tell_deadlines()
    await post.deliver_all()
    assert ["board.ending", "board.ended"] == [one.event for one in post.receiver.received]


async def test_what_ended_before_the_webhook_was_made_is_not_told(post: Post) -> None:
    await post.world.board()
    async with post.world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now() - interval '1 minute'")
    await post.hook()
    await post.deliveries.tell_deadlines()
    assert [] == await post.due()


async def test_a_deadline_is_not_told_again_once_its_message_is_forgotten(post: Post) -> None:
    await post.world.board()
    await post.hook()
    async with post.world.database.write() as session:
        await session.do("UPDATE webhooks SET created_at = now() - interval '90 days'")
        await session.do("UPDATE leaderboards SET deadline = now()")
    await post.deliveries.tell_deadlines()
    await post.deliver_all()
    async with post.world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now() - interval '31 days'")
        await session.do("UPDATE webhook_messages SET created_at = now() - interval '31 days'")
    await post.deliveries.clean_up()
    await post.deliveries.tell_deadlines()
    async with post.world.database.read() as session:
        row = await session.one("SELECT count(*) AS messages FROM webhook_messages")
    assert {"messages": 0} == row


async def test_a_rolled_back_transaction_tells_nothing(post: Post) -> None:
    await post.world.board()
    made = await post.hook()
    try:
        async with post.world.database.write() as session:
            await session.do(
                "INSERT INTO webhook_messages (webhook_id, event, subject, data)"
                " VALUES (%(id)s, 'ranking.record', 'x', '{}')",
                {"id": made.id},
            )
            raise ZeroDivisionError
    except ZeroDivisionError:
        assert [] == await post.due()
