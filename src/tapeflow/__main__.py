"""`python -m tapeflow` is the `tapeflow` command."""

from tapeflow.cli import main

main()
