"""`python -m tests.differential`: makes the catalogue's calls in both libraries, and compares."""

from tests.differential.report import main

raise SystemExit(main())
