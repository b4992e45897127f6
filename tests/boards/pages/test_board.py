"""A board's pages: standings, problem, files."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.boards.model import Difficulty, ProblemDefinition, Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.protocol import SourceFile
from tests.support.front import Front
from tests.support.problems import sort_problem
from tests.support.ranked import ranked

HOSTILE = "<script>alert(1)</script>\u202egnp.exe\x00 [x](javascript:alert(1)) " + "x" * 100_000


async def opened(front: Front, definition: ProblemDefinition) -> None:
    admin = front.world.admin.user
    await front.world.services.boards.create(admin, definition, name="sort", devices=("CPU",))


async def test_the_ranking_shows_medals_intervals_and_gaps(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    await ranked(front.world, 1.5e-3, author=front.world.bob.user)
    text = (await front.stranger.get("/board/sort")).text
    shown = ["medal-1", "<bdi>ada</bdi>", "1.00 ms", "<bdi>bob</bdi>", "+50.0%"]
    assert [] == [one for one in shown if one not in text]


async def test_each_page_of_a_board_says_what_it_is_about(front: Front) -> None:
    said = replace(
        sort_problem(), summary="Sort <fast>.", difficulty=Difficulty.HARD, tags=("c++",)
    )
    await opened(front, said)
    shown = ["Sort &lt;fast&gt;.", ">Python</a>", ">hard</a>", 'href="/?q=c%2B%2B"']
    for path in ("", "/problem", "/duels"):
        text = (await front.stranger.get(f"/board/sort{path}")).text
        assert [] == [one for one in shown if one not in text], path


async def test_authors_whose_intervals_overlap_share_a_rank(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3, relative_error=0.1)
    await ranked(front.world, 1.01e-3, author=front.world.bob.user, relative_error=0.1)
    text = (await front.stranger.get("/board/sort")).text
    shown = [
        text.count(one)
        for one in ("medal medal-1", 'medal-1">=1<', 'href="#shared-ranks"', 'id="shared-ranks"')
    ]
    assert [2, 2, 2, 1] == shown


async def test_a_shared_rank_is_explained_only_if_there_is_one(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    await ranked(front.world, 2e-3, author=front.world.bob.user)
    assert "shared-ranks" not in (await front.stranger.get("/board/sort")).text


async def test_a_gap_is_that_to_the_leader(front: Front) -> None:
    await front.world.board()
    carol = await front.world.services.users.create("carol")
    for score_s, author in ((1e-3, front.world.ada), (2e-3, front.world.bob), (4e-3, carol)):
        await ranked(front.world, score_s, author=author.user)
    text = (await front.stranger.get("/board/sort")).text
    assert [True] * 3 == [one in text for one in ("Gap to the leader", "+100%", "+300%")]


async def test_a_board_that_ended_shows_its_podium(front: Front) -> None:
    await front.world.board()
    await front.world.board("empty")
    await ranked(front.world, 1e-3)
    running = (await front.stranger.get("/board/sort")).text
    for name in ("sort", "empty"):
        edit = BoardEdit(deadline=datetime.now(UTC) - timedelta(seconds=1))
        await front.world.services.boards.edit(front.world.admin.user, name, edit)
    ended, empty = [(await front.stranger.get(f"/board/{name}")).text for name in ("sort", "empty")]
    assert [False, True, False] == ["steps-of-podium" in text for text in (running, ended, empty)]
    assert (False, True) == ("be the first" in empty, "nobody was ranked here" in empty)


async def test_ones_own_row_stands_out(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    pages = [(await one.get("/board/sort")).text for one in (front.ada, front.bob)]
    assert [True, False] == ['<tr class="me">' in page for page in pages]


async def test_each_device_has_its_ranking(front: Front) -> None:
    await front.world.board(devices=("CPU", "H100"))
    await ranked(front.world, 1e-3, device="H100")
    cpu = await front.stranger.get("/board/sort")
    gpu = await front.stranger.get("/board/sort?device=h100")
    assert [False, True] == ["<bdi>ada</bdi>" in page.text for page in (cpu, gpu)]


async def test_a_query_from_nowhere_is_a_page(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    expected = {
        f"offset={10**18}": 200,
        f"offset={10**30}": 422,
        "offset=-1": 422,
        "offset=x": 422,
        "device=nope": 400,
        "device=%00": 422,
        "device=%F0%9F%92%A9'; echo x": 400,
        "author=%00&author=<script>&author=&log=true": 200,
    }
    for query, status in expected.items():
        answer = await front.stranger.get(f"/board/sort?{query}")
        assert (query, status, False) == (query, answer.status_code, "<script>" in answer.text)
        assert "<h1>" in answer.text


async def test_the_second_page_compares_with_the_first(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    await ranked(front.world, 2e-3, author=front.world.bob.user)
    text = (await front.stranger.get("/board/sort?offset=1")).text
    assert (True, False, True) == ("<bdi>bob</bdi>" in text, "medal-1" in text, "+100%" in text)


async def test_a_closed_board_is_not_there_for_strangers(front: Front) -> None:
    await front.world.services.boards.create(
        front.world.admin.user,
        sort_problem(),
        name="sort",
        devices=("CPU",),
        visibility=Visibility.CLOSED,
    )
    paths = ("", "/problem", "/trend.svg", "/trend.csv", "/roofline.svg", "/file/reference.py")
    answers = [await front.stranger.get(f"/board/sort{path}") for path in paths]
    assert [404] * len(paths) == [answer.status_code for answer in answers]


async def test_the_problem_says_what_is_judged_and_how(front: Front) -> None:
    await front.world.board()
    await front.world.services.limits.set(
        front.world.admin.user, "sort", RateLimit(LimitCategory.LEADERBOARD, 6)
    )
    text = (await front.stranger.get("/board/sort/problem")).text
    shown = ["<p>Sort it.</p>", "size: 10000; seed: 7", "6 ranked an hour", "median time", "L12"]
    assert [] == [one for one in shown if one not in text]


async def test_a_board_with_the_same_problem_is_not_named(front: Front) -> None:
    await front.world.board("practice")
    create, admin = front.world.services.boards.create, front.world.admin.user
    problem = sort_problem("practice")
    await create(admin, problem, name="secret-finals", visibility=Visibility.CLOSED)
    organiser = await front.browser(front.world.admin)
    assert "secret-finals.py" in (await organiser.get("/board/secret-finals/problem")).text
    shown = (await front.stranger.get("/board/practice/problem")).text
    assert (True, False) == ("practice.py" in shown, "secret-finals" in shown)


async def test_the_starter_and_the_reference_are_downloads(front: Front) -> None:
    await front.world.board()
    starter = await front.stranger.get("/board/sort/starter/Python")
    reference = await front.stranger.get("/board/sort/file/reference.py")
    disposition = [one.headers["content-disposition"] for one in (starter, reference)]
    assert ['attachment; filename="sort.py"', 'attachment; filename="reference.py"'] == disposition
    assert [200, 200] == [starter.status_code, reference.status_code]
    assert "def ref_kernel" in reference.text


async def test_other_files_are_not_there(front: Front) -> None:
    await front.world.board()
    for name in ("nope", "..%2f..%2fetc%2fpasswd", "%00", "'; echo x"):
        for kind in ("file", "starter"):
            answer = await front.stranger.get(f"/board/sort/{kind}/{name}")
            assert answer.status_code in (404, 422)


async def test_a_hostile_problem_stays_text(front: Front) -> None:
    definition = sort_problem()
    text = HOSTILE.replace("\x00", "")
    files = (SourceFile("evil.py", f"x = '{text}'\n"),)
    spec = replace(definition.spec, files=files)
    hostile = replace(definition, spec=spec, description=text, templates={"<b>": text})
    await opened(front, hostile)
    answer = await front.stranger.get("/board/sort/problem")
    assert (200, False) == (answer.status_code, "<script>" in answer.text)
    assert "\u202e" not in answer.text
    assert 'href="javascript' not in answer.text
