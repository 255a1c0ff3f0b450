"""Stub."""

class TapeflowExportArchive:
    """Stub."""
