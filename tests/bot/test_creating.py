from datetime import UTC, datetime

import pytest

from kernelbot.bot.commands.creating import deadline_of
from kernelbot.domain.errors import UserError
from tests.bot.stage import CREATOR, Stage
from tests.catalog.test_single_cuda import REFERENCE
from tests.catalog.test_single_reference import OLDER
from tests.fakes.discord import Upload

pytestmark = pytest.mark.asyncio(loop_scope="module")


def upload(text: str = OLDER, name: str = "reference.py") -> Upload:
    return Upload(name, text.encode())


async def test_a_board_is_created_for_the_chosen_devices(stage: Stage) -> None:
    carl = stage.person("carl", CREATOR)
    asked = await carl.runs(
        "leaderboard create", name="scale", deadline="2100-01-01", reference_code=upload()
    )
    assert asked.original is not None
    await carl.chooses(asked.original, "Choose the GPUs", "CPU", "H100")
    assert (
        stage.discord.transcript.seen_by(carl.user.id).split("\nbot in thread")[0]
        == """carl: /leaderboard create name:scale deadline:2100-01-01 reference_code:reference.py
bot (only carl): Which GPUs is **scale** for?
[file reference.py]
[Choose the GPUs: CPU | H100]
carl chooses CPU, H100
bot edits (only carl): **scale** is open: until <t:4102444800:f> (<t:4102444800:R>), on CPU, \
H100."""
    )
    board = await stage.world.services.boards.get(None, "scale")
    assert (("CPU", "H100"), 2100) == (board.devices, board.deadline and board.deadline.year)
    taken = await carl.runs(
        "leaderboard create", name="SCALE", deadline="2100-01-01", reference_code=upload()
    )
    assert "❌ There is already a board named 'SCALE'." in taken.messages[0].content


async def test_a_board_has_the_longest_name(stage: Stage) -> None:
    carl, name = stage.person("carl", CREATOR), "n" * 64
    asked = await carl.runs(
        "leaderboard create", name=name, deadline="2100-01-01", reference_code=upload()
    )
    assert asked.original is not None
    await carl.chooses(asked.original, "Choose the GPUs", "CPU")
    assert name == (await stage.world.services.boards.get(None, name)).name


async def test_a_deadline_that_utc_has_no_year_for_cant_be_read() -> None:
    with pytest.raises(UserError, match="can't be read"):
        deadline_of("9999-12-31 23:00", "America/New_York")


@pytest.mark.parametrize(
    ("name", "deadline", "file", "refusal"),
    [
        ("x|y", "2100-01-01", upload(), "A board's name has"),
        ("n", "tomorrow", upload(), "deadline can't be read"),
        ("n", "2001-01-01", upload(), "passed already"),
        ("n", "2100-01-01", upload("x = 1"), "defines no ref\\_kernel"),
        ("n", "2100-01-01", upload("def ("), "isn't Python"),
        ("n", "2100-01-01", upload("", "a.zip"), "A zip can't be submitted"),
        ("n", "2100-01-01", upload("", "a.cpp"), "is neither Python nor CUDA"),
        ("n", "2100-01-01", upload("", "a.cu"), "defines no type input\\_t"),
    ],
)
async def test_what_cannot_be_a_board(
    stage: Stage, name: str, deadline: str, file: Upload, refusal: str
) -> None:
    carl = stage.person("carl", CREATOR)
    asked = await carl.runs("leaderboard create", name=name, deadline=deadline, reference_code=file)
    assert refusal in asked.messages[0].content


async def test_a_board_from_a_reference_in_cuda_is_for_gpus_that_run_it(stage: Stage) -> None:
    carl = stage.person("carl", CREATOR)
    file = upload(REFERENCE, "reference.cu")
    asked = await carl.runs(
        "leaderboard create", name="cuda", deadline="2100-01-01", reference_code=file
    )
    message = asked.original
    assert message is not None
    assert "[Choose the GPUs: H100]" in stage.told
    menu = message.pressed("Choose the GPUs")["custom_id"]
    forged = await carl.presses(message, menu, 3, ("CPU",))
    await stage.discord.until(lambda: forged.messages)
    assert "❌ 'CPU' can't run CUDA." in forged.messages[0].content
    await carl.chooses(message, "Choose the GPUs", "H100")
    await stage.discord.until(lambda: message.content.startswith("**cuda** is open: "))
    starter = await carl.runs("leaderboard template", name="cuda", lang="cuda")
    assert starter.original is not None
    (template,) = starter.original.files
    assert ("cuda.cu", True, True) == (
        template.name,
        template.content.startswith(b"//!POPCORN leaderboard cuda\n//!POPCORN gpu H100\n"),
        b"output_t custom_kernel(input_t data)" in template.content,
    )


async def test_competitors_create_none(stage: Stage) -> None:
    asked = await stage.person("eve").runs(
        "leaderboard create", name="n", deadline="2100-01-01", reference_code=upload()
    )
    assert "❌ Only creators and admins open boards." in asked.messages[0].content


async def test_deadlines_are_in_utc() -> None:
    assert datetime(2100, 1, 2, 3, 4, tzinfo=UTC) == deadline_of(" 2100-01-02 03:04")
    with pytest.raises(UserError):
        deadline_of("2100-01-01T00:00\x00")
