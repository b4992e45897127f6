"""What is told of a submission by a bot that was started again."""

from structlog.testing import capture_logs

from tests.bot.stage import open_stage
from tests.fakes.discord import Upload
from tests.support.postgres import TestServer
from tests.support.waiting import until


async def test_who_has_left_discord_gets_no_second_account(postgres: TestServer) -> None:
    """Somebody unlinks Discord from their account while their submission waits."""
    with postgres.database() as url:
        async with open_stage(url) as stage:
            await stage.world.board("sort")
            eve, users = stage.person("eve"), stage.world.services.users
            async with stage.running():
                file = Upload("fast.py", b"x = 1\n")
                asked = await eve.runs(
                    "leaderboard submit test", script=file, leaderboard_name="sort"
                )
                account = await stage.acting(eve)
            await users.sign_in(account.name, account.role, token_name="lasts")
            await users.unlink(account, "discord", str(eve.user.id))
            before = await users.list_users(stage.world.admin.user)
            async with stage.running():
                await stage.nothing_open()
            assert before == await users.list_users(stage.world.admin.user)
            assert asked.original is not None
            assert "isn't linked to Discord any more" in asked.original.content


async def test_what_nobody_expected_is_logged(postgres: TestServer) -> None:
    """And the answer stays open for the next bot."""
    with postgres.database() as url:
        async with open_stage(url) as stage:
            await stage.world.board("sort")
            async with stage.running():
                file = Upload("fast.py", b"x = 1\n")
                await stage.person("eve").runs(
                    "leaderboard submit test", script=file, leaderboard_name="sort"
                )
            async with stage.world.database.write() as session:
                await session.do("ALTER TABLE identities RENAME TO hidden")
            with capture_logs() as logs:
                async with stage.running():
                    await until(lambda: any(one["event"] == "following_crashed" for one in logs))
            assert 1 == len(await stage.world.services.chat.open_answers([stage.guild.id]))
