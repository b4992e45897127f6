from kernelbot.harness.timing.clocks import CacheFlusher


def a_flusher(cache_bytes: int = 1) -> CacheFlusher:
    """One that is ready, as before anything is timed."""
    flusher = CacheFlusher(cache_bytes)
    flusher.prepare()
    return flusher
