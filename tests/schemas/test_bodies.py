"""A body is sent without pydantic as pydantic would send it, and never one that it refuses."""

import json
from dataclasses import MISSING, fields
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import kernelbot
from kernelbot.accounts.model import Role
from kernelbot.accounts.schemas import NewUser
from kernelbot.boards.invites.schemas import NewInviteRequest
from kernelbot.boards.model import Visibility
from kernelbot.boards.schemas import BoardChange, NewBoard
from kernelbot.client.bodies import document_of
from kernelbot.domain.bounds import Keep
from kernelbot.domain.plain_values import Unclear, plain, read
from kernelbot.schemas.common import RequestBody
from kernelbot.schemas.errors import ErrorBody
from kernelbot.schemas.values import checked, from_json
from kernelbot.submissions.schemas import Decision
from kernelbot.webhooks.model import WebhookEvent
from tests.support.exhaustive import examples

ROOT = Path(kernelbot.__file__).parent
for module in ROOT.rglob("schemas.py"):
    import_module(".".join(("kernelbot", *module.relative_to(ROOT).with_suffix("").parts)))
BODIES = sorted(RequestBody.__subclasses__(), key=lambda kind: kind.__name__)
AT = datetime(2027, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
WRITTEN = "2027-01-02T03:04:05.000006Z"
GIVEN: st.SearchStrategy[Any] = st.one_of(
    st.text(max_size=5),
    st.sampled_from(["x" * length for length in (100, 101, 200, 201, 500, 501, 2000, 2001)]),
    st.sampled_from(["a\n", "\x00", "a\x7f", "\ud800", " ", "\x1c", "admin", "public"]),
    st.integers(-1, 1_000_001),
    st.sampled_from([None, True, False, 2.5, Keep.KEEP, *Role, *Visibility, *WebhookEvent]),
    st.sampled_from([AT, AT.replace(tzinfo=None), AT.replace(tzinfo=timezone(timedelta(hours=2)))]),
    st.lists(st.sampled_from(["a", "", *WebhookEvent, "b\n", 1]), max_size=3).map(tuple),
    st.integers(99, 101).map(lambda count: ("a",) * count),
    st.dictionaries(st.text(max_size=3), st.sampled_from([1, "x", None, [1.5], {"a": ()}])),
)


@pytest.mark.parametrize("kind", BODIES, ids=lambda kind: kind.__name__)
def test_what_is_sent_is_what_pydantic_sends(kind: Any) -> None:
    @given(st.fixed_dictionaries({one.name: GIVEN for one in fields(kind)}))
    @settings(max_examples=examples(60))
    def hold(values: dict[str, Any]) -> None:
        for name in [None, *values]:  # each in a body that is right but for it, and all at once
            given = values if name is None else {**right(kind), name: values[name]}
            body = kind(**given)
            try:
                sent = plain(body)
            except Unclear:
                continue
            assert checked(body) == sent

    hold()


RIGHT = {
    "name": "a",
    "problem": {"lang": "py"},
    "role": Role.ADMIN,
    "private": True,
    "code": "A-B",
    "boards": ("a",),
    "reason": "late",
    "max_per_hour": 5,
    "url": "https://example.org/",
    "device_code": "x",
}


def right(kind: Any) -> dict[str, Any]:
    needed = [one.name for one in fields(kind) if one.default is MISSING]
    return {name: RIGHT[name] for name in needed if name in RIGHT}


@pytest.mark.parametrize("kind", BODIES, ids=lambda kind: kind.__name__)
def test_what_is_right_is_sent_without_pydantic(kind: Any) -> None:
    body = kind(**right(kind))
    assert checked(body) == plain(body)


@pytest.mark.parametrize(
    "body",
    [
        NewUser(name=""),
        NewUser(name="x" * 201),
        NewUser(name="a\x00"),
        NewInviteRequest(boards=()),
        NewInviteRequest(boards=("a",), count=10_001),
        Decision(reason=" \n"),
        BoardChange(deadline=AT.replace(tzinfo=None)),
        NewBoard(name="a", problem={}, devices=("a", "")),
    ],
)
def test_what_a_server_would_refuse_is_not_sent(body: RequestBody) -> None:
    with pytest.raises(Unclear):
        plain(body)
    with pytest.raises(ValidationError):
        document_of(body)


@pytest.mark.parametrize(
    ("deadline", "sent"),
    [
        (Keep.KEEP, {}),
        (None, {"deadline": None}),
        (AT, {"deadline": "2027-01-02T03:04:05.000006Z"}),
    ],
)
def test_a_deadline_that_stays_is_left_out(
    deadline: datetime | Keep | None, sent: dict[str, Any]
) -> None:
    body = BoardChange(visibility=Visibility.CLOSED, deadline=deadline)
    others = dict.fromkeys(("fixed_seed", "refuse_unavailable", "reveal_code", "try_on_cpu"))
    expected = {"visibility": "closed", **others, **sent}
    assert (expected, expected) == (plain(body), checked(body))
    assert body == from_json(BoardChange, json.dumps(expected))


def test_why_a_server_refused_is_read_without_pydantic() -> None:
    text = '{"detail":"No. Ask.","code":"no","message":"No.","next":"ask_admin","hint":"Ask."}'
    assert from_json(ErrorBody, text) == read(ErrorBody, text)
    assert ErrorBody("No.", "no") == read(ErrorBody, '{"detail": "No.", "code": "no", "new": 1}')
