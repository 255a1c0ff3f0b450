"""`python -m tests.stress`: tries to break promises at random, for as long as it is given."""

from tests.stress.run import main

raise SystemExit(main())
