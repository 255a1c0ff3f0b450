"""`python -m tests.hostile`: makes hostile calls, and prints those that are not answered well."""

from tests.hostile.report import main

raise SystemExit(main())
