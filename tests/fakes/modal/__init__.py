"""Modal in memory: it runs what `deploy/modal/app.py` deploys, and speaks the package's API."""

from tests.fakes.modal.service import FakeModal

__all__ = ["FakeModal"]
