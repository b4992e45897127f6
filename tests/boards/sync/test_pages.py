"""A sync: the plan, and then exactly that."""

import re
from pathlib import Path

import httpx
import pytest

from tests.support.front import csrf_for
from tests.support.office import Office
from tests.support.problem_sets import commit_all, git, write_competition, write_problem
from tests.support.zips import zipped

HERE = "/organise/sync"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a competition of two problems."""
    for name in ("one", "two"):
        write_problem(tmp_path, name, description="<script>alert(1)</script>")
    write_competition(tmp_path, "one", "two")
    git(tmp_path, "init", "--quiet")
    commit_all(tmp_path)
    return tmp_path


async def planned(office: Office, root: Path) -> tuple[str, dict[str, str]]:
    """The page with the plan, and the fields of the form that applies it."""
    answer = await office.admin_posts(f"{HERE}/plan", repository=f"file://{root}")
    assert 200 == answer.status_code, answer.text
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', answer.text))
    fields.pop("csrf", None)
    return answer.text, fields


async def names(office: Office) -> list[str]:
    world = office.front.world
    return sorted(one.name for one in await world.services.boards.list_boards(world.admin.user))


async def apply(office: Office, fields: dict[str, str]) -> httpx.Response:
    return await office.admin_posts(f"{HERE}/apply", **fields)


async def test_the_plan_is_shown_before_it_is_applied(office: Office, root: Path) -> None:
    text, fields = await planned(office, root)
    before = await names(office)
    answers = [await apply(office, fields) for _ in range(2)]
    assert ("Apply 2" in text, ["other", "sort"]) == (True, before)
    assert ([200, 409], ["one", "other", "sort", "two"]) == (
        [one.status_code for one in answers],
        await names(office),
    )


async def test_the_plan_names_what_nobody_reads(office: Office, root: Path) -> None:
    write_competition(root, "one", "two", more="dead_line: 2027-01-01")
    commit_all(root)
    text, _ = await planned(office, root)
    assert '<li class="why">spring.yaml:4: dead_line: unknown key, ignored</li>' in text


@pytest.mark.exhaustive  # each run has test_the_plan_is_shown_before_it_is_applied
async def test_what_was_pushed_since_is_not_applied(office: Office, root: Path) -> None:
    _, fields = await planned(office, root)
    write_problem(root, "three")
    write_competition(root, "one", "two", "three")
    commit_all(root)
    await apply(office, fields)
    assert ["one", "other", "sort", "two"] == await names(office)


@pytest.mark.exhaustive  # each run has test_the_plan_is_shown_before_it_is_applied
async def test_nothing_is_done_if_the_boards_have_changed(office: Office, root: Path) -> None:
    _, fields = await planned(office, root)
    await office.front.world.board("one")
    answer = await apply(office, fields)
    assert (409, ["one", "other", "sort"]) == (answer.status_code, await names(office))
    assert "nothing was done" in answer.text


@pytest.mark.parametrize("repository", ["", "/etc", "'; echo x", "<script>", "--upload-pack=x"])
async def test_what_is_no_repository_is_refused(office: Office, repository: str) -> None:
    answer = await office.admin_posts(f"{HERE}/plan", repository=repository)
    assert (True, False) == (400 <= answer.status_code < 500, "<script>" in answer.text)


def packed(root: Path) -> bytes:
    """The folder as people would upload it."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return zipped(*((str(path.relative_to(root)), path.read_bytes()) for path in files))


async def upload(
    office: Office, action: str, content: bytes, fields: dict[str, str] | None = None
) -> httpx.Response:
    data = {**csrf_for(office.front.admin), **(fields or {})}
    return await office.front.admin.post(
        f"{HERE}/archive/{action}", data=data, files={"file": ("<b>.zip", content)}
    )


@pytest.mark.exhaustive  # each run has test_the_plan_is_shown_before_it_is_applied
async def test_an_archive_is_planned_and_then_applied(office: Office, root: Path) -> None:
    content = packed(root)
    shown = await upload(office, "plan", content)
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', shown.text))
    fields.pop("csrf")
    write_problem(root, "two", description="Another.")
    other = await upload(office, "apply", packed(root), fields)
    before = await names(office)
    applied = await upload(office, "apply", content, fields)
    assert ([200, 409, 200], ["other", "sort"]) == (
        [one.status_code for one in (shown, other, applied)],
        before,
    )
    assert ["one", "other", "sort", "two"] == await names(office)
    assert ("isn&#39;t the archive" in other.text, "<b>" in shown.text) == (True, False)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\xff" * 1000, zipped(("../x", b""))])
async def test_what_is_no_archive_is_refused(office: Office, content: bytes) -> None:
    assert 422 == (await upload(office, "plan", content)).status_code


async def test_an_archive_is_read_of_admins_alone(office: Office) -> None:
    path, files = f"{HERE}/archive/plan", {"file": ("a.zip", b"x" * (1 << 20))}
    forged = {"csrf": "0" * 64}
    answers = [
        await office.maker.post(path, data=csrf_for(office.maker), files=files),
        await office.front.admin.post(path, data=forged, files=files),
        await office.front.stranger.post(path, files=files),
    ]
    assert [403, 403, 401] == [one.status_code for one in answers]


async def test_syncing_is_for_admins(office: Office, root: Path) -> None:
    url = f"file://{root}"
    answers = [
        await office.maker.get(HERE),
        await office.post(f"{HERE}/plan", repository=url),
        await office.post(f"{HERE}/apply", repository=url, commit="HEAD", digest="0" * 64),
        await office.front.admin.post(f"{HERE}/plan", data={"repository": url, "csrf": "0" * 64}),
    ]
    assert ([403] * 4, ["other", "sort"]) == (
        [one.status_code for one in answers],
        await names(office),
    )
