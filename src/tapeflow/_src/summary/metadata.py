"""`SummaryMetadata`: which of TensorBoard's plugins shows a value, as an object to fill in."""

from __future__ import annotations

from tapeflow._src.summary.event_file import metadata_of


class PluginData:
    """The name of a plugin, and what only that plugin understands."""

    def __init__(self, plugin_name: str = "", content: bytes = b"") -> None:
        self.plugin_name = plugin_name
        self.content = content


class SummaryMetadata:
    r"""Tells TensorBoard what to do with what `tf.summary.write` writes.

    It stands in for the protobuf class of that name, which code written for TensorFlow fills in.

    >>> metadata = SummaryMetadata(summary_description="losses")
    >>> metadata.plugin_data.plugin_name = "scalars"
    >>> metadata.SerializeToString()
    b'\n\t\n\x07scalars\x1a\x06losses'
    """

    def __init__(
        self, plugin_data: PluginData | None = None, summary_description: str = ""
    ) -> None:
        self.plugin_data = plugin_data or PluginData()
        self.summary_description = summary_description

    def SerializeToString(self) -> bytes:
        """The message as bytes."""
        plugin = self.plugin_data
        return metadata_of(plugin.plugin_name, self.summary_description, plugin.content)
