"""`tf.distribute.cluster_resolver`: who belongs to a job of several processes."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.distribute.cluster_resolver import (
    ClusterResolver as ClusterResolver,
    SimpleClusterResolver as SimpleClusterResolver,
    TFConfigClusterResolver as TFConfigClusterResolver,
    UnionResolver as UnionResolver,
)
from tapeflow._src.distribute.slurm import SlurmClusterResolver as SlurmClusterResolver

__getattr__ = _Missing("tf.distribute.cluster_resolver")
