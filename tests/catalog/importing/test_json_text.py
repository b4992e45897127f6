import pytest
from pydantic import BaseModel

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.importing.json_text import read_json


class Size(BaseModel):
    rows: float


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"rows": NaN}', "f: not valid JSON: NaN isn't a number"),
        ('{"rows": 1e999}', "f: not valid JSON: 1e999 is too large"),
        ('{"rows": ' + "1" * 5000 + "}", "f: not valid JSON: a number of 5000 characters"),
        ('{"rows": 1, "rows": 2}', "f: not valid JSON: the key 'rows' is written twice"),
        ("[" * 100_000, "f: not valid JSON: nested too deeply"),
        ('{"rows": "\\ud800"}', "f: not valid JSON: text that isn't Unicode"),
        ('{"rows":\n}', "f:2: not valid JSON: Expecting value"),
        ('{"rows": "a\'; echo x"}', "f: rows: Input should be a valid number"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, told: str) -> None:
    findings = DefinitionFindings("f")
    assert read_json(text, Size, None, findings) is None
    assert told in str(findings.errors[0])


def test_a_line_of_a_file_is_named() -> None:
    findings = DefinitionFindings("f")
    read_json("{", Size, 7, findings)
    assert 7 == findings.errors[0].line
