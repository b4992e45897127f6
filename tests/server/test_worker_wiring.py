import subprocess
import sys

LOADED = "import sys, kernelbot.server.work; print(*sorted({n.split('.')[0] for n in sys.modules}))"


def test_a_worker_loads_nothing_that_answers_requests() -> None:
    loaded = subprocess.check_output([sys.executable, "-c", LOADED], text=True).split()
    assert [] == sorted({"fastapi", "starlette", "uvicorn", "jinja2"} & set(loaded))
