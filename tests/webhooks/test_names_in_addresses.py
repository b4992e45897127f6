import pytest

from kernelbot.domain.errors import UserError
from kernelbot.webhooks.addresses import checked_url
from kernelbot.webhooks.model import WebhookRules


@pytest.mark.parametrize("who", ["ada", "ada:word", ":word", ":", ""])
def test_an_address_holds_nobodys_name_or_password(who: str) -> None:
    with pytest.raises(UserError, match="no user name"):
        checked_url(f"https://{who}@example.org/", WebhookRules())


def test_an_address_without_them_is_taken() -> None:
    assert "https://example.org/" == checked_url("https://example.org/", WebhookRules())
