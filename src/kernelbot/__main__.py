"""`python -m kernelbot`: the terminal, without needing it on PATH."""

from kernelbot.cli import main

if __name__ == "__main__":
    main()
