"""Which jobs share zygotes."""

from dataclasses import replace

import pytest

from kernelbot.harness.host.pool import key_of
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
