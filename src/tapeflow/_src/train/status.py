"""What `restore` returns: questions about what was restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.train.object_graph import identity, leaves
from tapeflow._src.train.restoration import Restoration


class CheckpointLoadStatus:
    """Tells what a checkpoint was restored into, and which one it was."""

    def __init__(
        self, restoration: Restoration, root: Any, more: Callable[[], dict[str, Any]]
    ) -> None:
        self._restoration = restoration
        self._root = root
        self._more = more

    def _renewed(self) -> Restoration:
        self._restoration.again(self._root, self._more())
        return self._restoration

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Checks that every value of the checkpoint was used, and every object of the program restored."""
        left = self._renewed().unresolved()
        if left:
            others = f", and {len(left) - 1} more" if len(left) > 1 else ""
            raise AssertionError(
                f"Unresolved object in checkpoint {left[0].text}: its value "
                f"{next(iter(left[0].values.values()))!r} was not used{others}. The program has no such object (yet). "
                f"If that is intended, use assert_existing_objects_matched() or expect_partial(). The checkpoint is "
                f"{self._restoration.prefix}."
            )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Checks that every object of the program was restored."""
        restoration = self._renewed()
        there = {identity(value): value for value in self._leaves()}
        unmatched = [value for key, value in there.items() if key not in restoration.numbers]
        if unmatched:
            shown = unmatched[:10]
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due to "
                f"changes in the Python program. Showing {len(shown)} of {len(unmatched)} unmatched objects: {shown}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Checks that something besides the root was restored."""
        restoration = self._renewed()
        if len(restoration.bound) <= 1:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means that the "
                f"checkpoint {restoration.prefix} does not have the structure of the program: it holds "
                f"{', '.join(node.text for node in restoration.nodes if node.values)}."
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that values which are not used are no mistake: no warning is logged."""
        self._restoration.partial_expected = True
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing is left to do: values are restored at once."""

    def run_restore_ops(self, session: Any = None) -> None:
        """Nothing is left to do: values are restored at once."""

    def _leaves(self) -> list[Any]:
        inside_of = self._restoration.children
        roots = [self._root, *self._more().values()]
        return [leaf for root in roots for leaf in leaves(root, inside_of)]

    def __repr__(self) -> str:
        nodes = [node for node in self._restoration.nodes if node.values]
        used = len(nodes) - len(self._restoration.unresolved())
        return f"<CheckpointLoadStatus of {self._restoration.prefix!r}: {used} of {len(nodes)} values restored>"


class InitializationOnlyStatus:
    """Tells that there was no checkpoint to restore: the path was None."""

    def _refuse(self) -> InitializationOnlyStatus:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self) -> InitializationOnlyStatus:
        """Fails: nothing was restored."""
        return self._refuse()

    def assert_existing_objects_matched(self) -> InitializationOnlyStatus:
        """Fails: nothing was restored."""
        return self._refuse()

    def assert_nontrivial_match(self) -> InitializationOnlyStatus:
        """Fails: nothing was restored."""
        return self._refuse()

    def expect_partial(self) -> InitializationOnlyStatus:
        """There is nothing to be partial."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing is left to do."""

    def run_restore_ops(self, session: Any = None) -> None:
        """Fails: nothing was restored."""
        self._refuse()

    def __repr__(self) -> str:
        return "<InitializationOnlyStatus: there was no checkpoint to restore>"
