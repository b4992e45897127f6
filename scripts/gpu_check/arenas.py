"""Memory of the device that one process owns and another maps, as judge and runners do.

Both processes are forked from one that has imported everything and touched no driver.
"""

import os
import subprocess
import sys

from scripts.gpu_check.machine import Gpu

_TRIAL_S = 120
_TRIAL = """
import ctypes, os, socket
from kernelbot.harness.inside.gpu.arena import Arena
from kernelbot.harness.inside.gpu.timing import open_driver

def content(driver, address):
    held = ctypes.create_string_buffer(8)
    driver.download(ctypes.addressof(held), address, 8)
    return held.raw

mine, theirs = socket.socketpair()
if os.fork() == 0:
    mine.close()
    size, (fd,), _, _ = socket.recv_fds(theirs, 20, 1)
    driver = open_driver()
    arena = Arena.attach(driver, fd, int(size), views=2)
    driver.copy(arena.addresses[1] + 256, arena.addresses[0], 8)
    driver.wait()
    theirs.send(content(driver, arena.addresses[0]) + driver.identity().encode())
    os._exit(0)
theirs.close()
driver = open_driver()
arena = Arena.create(driver, 1 << 20)
driver.fill(arena.address, 0x5A, 8)
driver.fill(arena.address + 256, 0, 8)
driver.wait()
fd = arena.export()
socket.send_fds(mine, [str(arena.size_bytes).encode()], [fd])
said = mine.recv(80)
assert said[:8] == b"Z" * 8, f"the other process reads {said!r}"
assert said[8:].decode() == driver.identity(), "the other process has another GPU"
assert content(driver, arena.address + 256) == b"Z" * 8, "its copy didn't arrive"
os.wait()
print(f"shared, in steps of {arena.size_bytes >> 10} KiB; {driver.free_bytes() >> 20} MiB are free")
print(f"UUID {driver.identity()}")
"""


def check(_gpu: Gpu) -> bool:
    """Print what happened; whether a copy of the other process's arrived."""
    done = subprocess.run(
        [sys.executable, "-c", _TRIAL],
        capture_output=True,
        text=True,
        check=False,
        timeout=_TRIAL_S,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    print((done.stdout or done.stderr).strip())
    return done.returncode == 0
