"""Whether the platform can do its work."""

from kernelbot.domain.types import Readiness


class Health:
    """Looks at each part the platform stands on."""

    async def ready(self) -> Readiness:
        """Database, schema, queue and workers. Never raises for a part that is down."""
        raise NotImplementedError
