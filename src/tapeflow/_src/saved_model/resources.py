"""`tf.saved_model.experimental.TrackableResource`: what a program holds besides variables, made when it is needed."""

from __future__ import annotations

import contextlib
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import device as on_device
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.ops.control.scopes import init_scope


@export("saved_model.experimental.TrackableResource")
class TrackableResource(Tracked):
    """An object that makes a resource when it is first asked for, and lets go of it in the end.

    `_create_resource` makes it, `_initialize` fills it, `_destroy_resource` is called when the object is gone.

    >>> class Names(tf.saved_model.experimental.TrackableResource):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self._initialize()
    ...     def _create_resource(self):
    ...         return tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    ...     def _initialize(self):
    ...         self.resource_handle.insert(["a"], [1])
    >>> names = Names()
    >>> tf.function(lambda x: names.resource_handle.lookup(x))(tf.constant(["a", "b"])).numpy()
    array([ 1, -1])

    Args:
      device: where the resource is made; by default anywhere.
    """

    def __init__(self, device: str = "") -> None:
        self._resource_device = device
        self._resource_handle: Any = None

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Fills the resource."""

    def _destroy_resource(self) -> None:
        """Lets go of the resource."""

    @property
    def resource_handle(self) -> Any:
        """The resource."""
        if self._resource_handle is None:
            with init_scope(), on_device(self._resource_device or None):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def __del__(self) -> None:
        if getattr(self, "_resource_handle", None) is not None:
            with contextlib.suppress(Exception):  # nobody is there to be told
                self._destroy_resource()
