"""Which files are tapeflow's own."""

from pathlib import Path

FOLDER = str(Path(__file__).resolve().parents[3]) + "/"
"""Where they are: what their names begin with."""
