import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.handles import Handle, check_job_id


def test_a_handle_is_read_as_it_was_written() -> None:
    assert Handle.parse(str(Handle("4711", "12.1.0123456789ab"))) == Handle(
        "4711", "12.1.0123456789ab"
    )


@pytest.mark.parametrize(
    "text", ["", "1", ":", "1:", ":1.1.a", "x:1.1.a", "1:a'; echo x", "1:../a", "1:a\n", "٣:1.1.a"]
)
def test_what_no_launcher_has_made_is_no_handle(text: str) -> None:
    assert Handle.parse(text) is None


@given(st.text())
def test_a_name_that_passes_leads_nowhere(job_id: str) -> None:
    try:
        name = check_job_id(job_id)
    except PlatformError:
        return
    assert not set(name) & set("/\\ '\"$`;&|<>\n\0")
    assert not name.startswith((".", "-"))
