"""New boards."""

from tests.catalog.test_single_cuda import REFERENCE
from tests.support.front import csrf_for
from tests.support.office import Office

NEW = "/organise/new"
CUDA = REFERENCE.encode()
FORM = {"name": "fresh", "deadline": "2040-01-31T12:00", "device": "H100"}


async def upload(
    office: Office, content: bytes, file_name: str = "reference.cu", /, **form: str
) -> int:
    data = {**csrf_for(office.maker), **FORM, **form}
    answer = await office.maker.post(
        f"{NEW}/reference", data=data, files={"file": (file_name, content)}
    )
    return answer.status_code


async def names(office: Office) -> list[str]:
    boards = await office.front.world.services.boards.list_boards(office.front.world.admin.user)
    return sorted(board.name for board in boards)


async def test_a_reference_file_becomes_a_board_once(office: Office) -> None:
    statuses = [await upload(office, CUDA) for _ in range(2)]
    assert ([303, 409], ["fresh", "other", "sort"]) == (statuses, await names(office))


UPLOADS: list[tuple[bytes, str, dict[str, str], int]] = [
    (b"", "a.cu", {}, 422),
    (b"\xff\x00", "a.py", {}, 422),
    (b"print('<script>')", "a.py", {}, 422),
    (CUDA, "a.txt", {}, 422),
    (CUDA, "a.cu", {"name": "../x"}, 400),
    (CUDA, "a.cu", {"name": "a'; echo x"}, 400),
    (CUDA, "a.cu", {"deadline": ""}, 400),
    (CUDA, "a.cu", {"device": "CPU"}, 400),
    (CUDA, "a.cu", {"device": "<b>"}, 400),
    (b"x" * (2 << 20), "a.cu", {}, 413),
]


async def test_what_is_no_problem_makes_no_board(office: Office) -> None:
    statuses = [await upload(office, content, name, **form) for content, name, form, _ in UPLOADS]
    assert [status for *_, status in UPLOADS] == statuses
    assert ["other", "sort"] == await names(office)


async def test_a_folder_of_the_server_becomes_a_board(office: Office) -> None:
    page = (await office.maker.get(NEW)).text
    made = await office.post(f"{NEW}/folder", directory="sort_np", visibility="closed")
    outside = await office.post(f"{NEW}/folder", directory="../examples")
    assert (True, 303, 400) == ("<option>sort_np" in page, made.status_code, outside.status_code)
    assert ["other", "sort", "sort_np-dev"] == await names(office)


async def test_competitors_make_none(office: Office) -> None:
    answers = [
        await office.post(f"{NEW}/folder", office.front.ada, directory="sort_np"),
        await office.maker.post(f"{NEW}/folder", data={"directory": "sort_np"}),
    ]
    assert [403, 403] == [answer.status_code for answer in answers]
    assert ["other", "sort"] == await names(office)
