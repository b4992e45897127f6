import pytest

from kernelbot.server.doctor import DoctorPart, to_document


@pytest.mark.parametrize(
    ("ok", "required", "sign"),
    [(True, True, "✓"), (True, False, "✓"), (False, True, "✗"), (False, False, "-")],
)
def test_a_part_in_a_sign(ok: bool, required: bool, sign: str) -> None:
    assert sign == DoctorPart("g++", ok, required, None, "").sign


@pytest.mark.parametrize(("required", "expected"), [(True, False), (False, True)])
def test_only_what_is_required_must_be_there(required: bool, expected: bool) -> None:
    parts = [
        DoctorPart("a", True, True, "1.0", ""),
        DoctorPart("b", False, required, None, "get it"),
    ]
    assert expected == to_document(parts)["ok"]
