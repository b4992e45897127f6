"""GitHub, as far as workflow runs on self-hosted runners go: its REST routes over HTTP, a storage
host of its own, and runners that really execute the steps of `.github/workflows/`."""

from tests.fakes.github.server import REPO, TOKEN, FakeGithub, fake_github

__all__ = ["REPO", "TOKEN", "FakeGithub", "fake_github"]
