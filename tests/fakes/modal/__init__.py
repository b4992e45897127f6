"""A stand-in for Modal: it runs what `deploy/modal/app.py` deploys, and speaks the package's API.

In the process of a test, or to others over HTTP.
"""

from tests.fakes.modal.served import RemoteModal, served_modal
from tests.fakes.modal.service import FakeModal

__all__ = ["FakeModal", "RemoteModal", "served_modal"]
