"""`python -m kernelbot.harness`, and what the zipapp runs."""

from kernelbot.protocol.garbage import loading

with loading():
    from kernelbot.harness.host.cli import main

if __name__ == "__main__":
    main()
