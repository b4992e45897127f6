"""How a server finds what signs results."""

from kernelbot.attestations import api, pages
from kernelbot.attestations.service import Attestations
from kernelbot.extensions import Download, Extension
from kernelbot.store.database import Database


class SignedResults(Extension):
    routes = (api.router,)
    pages = (pages.router,)
    downloads = (
        Download(
            heading="For others to check",
            path="signed",
            label="Signed document",
            about="All results with their samples, signed by this platform\u2019s key. "
            "`kernelbot verify FILE` checks it without a server and computes the score again.",
        ),
    )

    @classmethod
    def service(cls, database: Database) -> Attestations:
        return Attestations(database)
