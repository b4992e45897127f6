"""`python -m kernelbot.harness`, and what the zipapp runs."""

from kernelbot.harness.commands import main

if __name__ == "__main__":
    main()
