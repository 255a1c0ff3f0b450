"""`tf.function`: trace once, run the graph."""

from tapeflow.function.concrete import ConcreteFunction as ConcreteFunction
from tapeflow.function.polymorphic import Function as Function, function as function
