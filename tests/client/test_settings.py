"""What a machine says about proxies and authorities, where it can't be used: that is told, and no
crash."""

from pathlib import Path

import pytest

from kernelbot.client import AsyncKernelbotClient, KernelbotClient
from kernelbot.domain.errors import UserError

CLIENTS = pytest.mark.parametrize("client", [KernelbotClient, AsyncKernelbotClient])


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


@CLIENTS
@pytest.mark.parametrize("proxy", ["gopher://127.0.0.1:9", "nonsense://"])
def test_a_proxy_that_nobody_can_ask(
    client: type[KernelbotClient | AsyncKernelbotClient],
    proxy: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(UserError, match="Unknown scheme for proxy") as caught:
        client("http://kernels.example")
    assert "HTTP_PROXY" in caught.value.hint


@CLIENTS
@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize("content", [None, "no certificates"])
def test_authorities_that_are_none(
    client: type[KernelbotClient | AsyncKernelbotClient],
    proxied: bool,
    content: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "authorities.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    if proxied:
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"reaching https://kernels\.example can't be used"):
        client("https://kernels.example")
