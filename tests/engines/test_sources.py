"""The source of a program, which Python shows in tracebacks, is kept as long as the program."""

import gc
import linecache

import tapeflow as tf
from tapeflow._src.engines.numpy import program


def test_a_program_may_die_while_python_goes_through_the_sources_it_keeps():
    """As it does to print a traceback: the garbage collector may run at any moment."""
    functions = [tf.function(lambda x, i=i: x + i, jit_compile=False) for i in range(3)]
    for f in functions:
        f(tf.constant(1.0))
    names = [name for name in linecache.cache if name.startswith("<tapeflow ")]
    assert len(names) >= 3
    functions.clear()
    del f
    gc.collect()
    assert all(name in linecache.cache for name in names)
    tf.function(lambda x: x * 2.0, jit_compile=False)(tf.constant(1.0))
    assert sum(name in linecache.cache for name in names) <= len(names) - 3


def test_another_thread_may_let_the_sources_go_first(monkeypatch):
    class Contested(list):
        def __bool__(self):  # there was one, and now another thread takes it
            self.clear()
            return True

    monkeypatch.setattr(program, "_gone", Contested(["<tapeflow gone>"]))
    f = tf.function(lambda x: x * 3.0, jit_compile=False)
    assert float(f(tf.constant(2.0))) == 6.0


def test_a_program_whose_making_was_interrupted_goes_without_a_word(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "keep_freed_memory", interrupted)
    untold = []
    monkeypatch.setattr("sys.unraisablehook", untold.append)
    try:
        tf.function(lambda x: x * 4.0, jit_compile=False)(tf.constant(1.0))
    except KeyboardInterrupt as error:
        del error
    gc.collect()
    assert untold == []
