"""What is secret, or as long as a file, is in no text of the value that holds it, as logs have."""

import dataclasses

import pytest

from kernelbot.accounts.logins.model import DeviceLogin
from kernelbot.accounts.logins.service import LoginStart, Return
from kernelbot.accounts.logins.store import LoginAttempt
from kernelbot.accounts.model import NewAccount, NewToken
from kernelbot.accounts.tokens.model import Credential, IssuedToken
from kernelbot.accounts.tokens.store import TokenToStore
from kernelbot.boards.invites.model import NewInvites
from kernelbot.guilds.model import ChatAnswer
from kernelbot.harness.host.warm.client import WarmStart
from kernelbot.platform.downloads.service import ServedFile
from kernelbot.protocol import Product
from kernelbot.submissions.sharing.model import ResultLink
from kernelbot.webhooks.model import DueMessage, NewWebhook

UNSEEN = [
    (DeviceLogin, {"device_code"}),
    (LoginStart, {"browser"}),
    (Return, {"browser", "state", "code"}),
    (LoginAttempt, {"code_verifier"}),
    (NewAccount, {"token"}),
    (NewToken, {"token"}),
    (Credential, {"text"}),
    (IssuedToken, {"token"}),
    (TokenToStore, {"hash"}),
    (NewInvites, {"codes"}),
    (ChatAnswer, {"token"}),
    (ServedFile, {"content"}),
    (ResultLink, {"path"}),
    (DueMessage, {"secret"}),
    (NewWebhook, {"secret"}),
    (Product, {"content_base64"}),
    (WarmStart, {"environment"}),
]


@pytest.mark.parametrize(("kind", "unseen"), UNSEEN)
def test_the_text_of_a_value_has_all_but_its_secrets(kind: type, unseen: set[str]) -> None:
    value: object = object.__new__(kind)
    names = {field.name for field in dataclasses.fields(kind)}
    for name in names:
        object.__setattr__(value, name, f"<{name}>")
    assert unseen == {name for name in names if f"<{name}>" not in repr(value)}
