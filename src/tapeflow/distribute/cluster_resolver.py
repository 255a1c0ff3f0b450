"""`tf.distribute.cluster_resolver`: who belongs to a job of several processes."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.distribute.resolvers.cloud import (
        KubernetesExecutableLocation as KubernetesExecutableLocation,
        KubernetesClusterResolver as KubernetesClusterResolver,
        GCEClusterResolver as GCEClusterResolver
    )
    from tapeflow._src.distribute.resolvers.cluster_resolver import (
        ClusterResolver as ClusterResolver, SimpleClusterResolver as SimpleClusterResolver,
        TFConfigClusterResolver as TFConfigClusterResolver, UnionResolver as UnionResolver
    )
    from tapeflow._src.distribute.resolvers.slurm import (
        SlurmClusterResolver as SlurmClusterResolver
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.distribute.cluster_resolver",
    names={
        "distribute.resolvers.cloud": "KubernetesExecutableLocation KubernetesClusterResolver GCEClusterResolver",
        "distribute.resolvers.cluster_resolver": "ClusterResolver SimpleClusterResolver TFConfigClusterResolver UnionResolver",
        "distribute.resolvers.slurm": "SlurmClusterResolver",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
