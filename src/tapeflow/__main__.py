"""`python -m tapeflow` is the `tapeflow` command."""

from tapeflow._src.tools.cli import main

main()
