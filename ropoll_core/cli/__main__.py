"""`python -m ropoll_core.cli` is `ropoll`."""

from ropoll_core.cli import main

if __name__ == "__main__":
    main()
