"""Which jobs share zygotes, and when processes for the next one are made."""

from dataclasses import replace

import pytest

from kernelbot.harness.host.pool import expects_next, key_of
from kernelbot.protocol import Lang
from tests.harness.jobs import a_job


@pytest.mark.parametrize(
    ("lang", "checked", "expected"),
    [
        (Lang.PY, True, True),
        (Lang.PY, False, False),
        (Lang.CU, True, False),  # the judge's own flags say it
    ],
)
def test_only_python_files_are_looked_at_by_runners_of_their_own(
    lang: Lang, checked: bool, expected: bool
) -> None:
    job = replace(a_job("import torch\n"), checked=checked)
    job = replace(job, problem=replace(job.problem, lang=lang))
    assert expected == key_of(job).checked


@pytest.mark.parametrize(
    ("users", "since_last_s", "expected"),
    [(1, 10.0, False), (1, 0.01, True), (2, 10.0, True)],
)
def test_the_next_job_is_expected_in_a_sequence_and_beside_others(
    users: int, since_last_s: float, expected: bool
) -> None:
    assert expected == expects_next(users, since_last_s)
