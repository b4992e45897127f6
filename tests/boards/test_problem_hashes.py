"""What makes two versions of a problem the same."""

import hashlib
import json
import re
from dataclasses import replace

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelbot.boards.model import Difficulty, ProblemDefinition
from kernelbot.boards.problem_hashes import definition_to_wire, problem_hashes
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import Case, CaseValue, RankRule, SourceFile, to_wire
from tests.support.exhaustive import examples
from tests.support.former_hashes import with_devices
from tests.support.problems import sort_problem

LATER = {"summary", "difficulty", "tags"}


def test_a_problem_that_says_nothing_for_lists_is_written_as_before() -> None:
    written = definition_to_wire(sort_problem())
    assert LATER == to_wire(sort_problem()).keys() - written.keys()


@pytest.mark.parametrize(
    "said", [{"summary": "Sort."}, {"difficulty": Difficulty.EASY}, {"tags": ("sort",)}]
)
def test_what_lists_say_makes_a_new_version_and_leaves_scores(said: dict[str, object]) -> None:
    before, after = problem_hashes(sort_problem()), problem_hashes(replace(sort_problem(), **said))  # type: ignore[arg-type]  # by name
    assert (False, True) == (before.content == after.content, before.judging == after.judging)


def test_the_devices_make_a_new_version_and_leave_scores() -> None:
    before, after = (problem_hashes(sort_problem(devices=d)) for d in (("CPU",), ("H100", "CPU")))
    assert (False, True) == (before.content == after.content, before.judging == after.judging)


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[CaseValue] = st.one_of(st.integers(), TEXT, FLOATS)


@st.composite
def definitions(draw: st.DrawFn) -> ProblemDefinition:
    """Problems that differ in some of their parts."""
    problem = sort_problem(devices=tuple(draw(st.permutations(["CPU", "H100", "ü"]))[:2]))
    spec = replace(
        problem.spec,
        files=(SourceFile("reference.py", draw(TEXT)),),
        tests=(Case(draw(st.dictionaries(TEXT, VALUES, max_size=3))),),
        ranking_by=draw(st.sampled_from(RankRule)),
    )
    if draw(st.booleans()):
        spec = problem.spec
    return replace(problem, spec=spec, description=draw(TEXT))


def test_what_is_judged_alike_has_one_hash_here_and_in_the_database(database_url: str) -> None:
    """And no other has it; a hash of the release before becomes it, unlike any other hash."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("INSERT INTO problems (name) VALUES ('sort')")

        @settings(max_examples=examples(20), deadline=None)
        @given(definitions(), definitions())
        def holds(one: ProblemDefinition, other: ProblemDefinition) -> None:
            hashes = [problem_hashes(each).judging for each in (one, other)]
            alike = json.dumps(to_wire(one.spec)) == json.dumps(to_wire(other.spec))
            assert alike == (hashes[0] == hashes[1])
            unlike = problem_hashes(one).content
            stored = [_stored(connection, one, said) for said in (with_devices(one), unlike)]
            assert [hashes[0], unlike] == stored

        holds()


def _stored(
    connection: psycopg.Connection, definition: ProblemDefinition, judging_hash: bytes
) -> bytes:
    """The hash that a version has which is stored with this one; it isn't kept."""
    with connection.transaction(force_rollback=True):
        row = connection.execute(
            "INSERT INTO problem_versions"
            " (problem_id, content_hash, judging_hash, definition, harness, ranking_by)"
            " VALUES (1, sha256('x'), %s, %s, 'native', 'last') RETURNING judging_hash",
            (judging_hash, json.dumps(definition_to_wire(definition), ensure_ascii=False)),
        ).fetchone()
    assert row is not None
    return bytes(row[0])


def test_a_hash_is_of_utf_8_text() -> None:
    definition = replace(sort_problem(), description="späße")
    text = json.dumps(definition_to_wire(definition), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).digest() == problem_hashes(definition).content


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("a\x00b", "The problem's description holds a NUL character."),
        ("\ud800", "The problem's files hold text that isn't valid Unicode."),
    ],
)
def test_text_that_no_database_holds_is_refused(description: str, said: str) -> None:
    with pytest.raises(InvalidProblem, match=f"^{re.escape(said)}$"):
        problem_hashes(replace(sort_problem(), description=description))
