"""The commands that need more than a client."""

import pytest

from kernelbot.cli import extras
from kernelbot.cli.errors import USAGE, report_error
from kernelbot.cli.extras import Extra
from kernelbot.domain.errors import UserError


@pytest.mark.parametrize("extra", ["judge", "server", "mcp"])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, extra: Extra) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(UserError) as caught:
        extras.require_extra(extra)
    assert f"pip install 'kernelbot[{extra}]'" in caught.value.hint
    assert USAGE == report_error(caught.value, as_json=True)
