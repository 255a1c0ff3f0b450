"""Queues between threads: who waits, and who is told that there is nothing to wait for."""

import threading

import pytest

import tapeflow as tf


def started(function):
    """A thread that runs a function, and the list that its result or its error is put into."""
    found = []

    def run():
        try:
            found.append(function())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def test_a_reader_waits_for_a_writer():
    queue = tf.queue.FIFOQueue(2, [tf.int32], shapes=[[]])
    thread, found = started(lambda: int(queue.dequeue()))
    queue.enqueue(7)
    thread.join(60)
    assert found == [7]


def test_a_writer_waits_for_room():
    queue = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    queue.enqueue(1)
    thread, found = started(lambda: queue.enqueue(2))
    assert int(queue.dequeue()) == 1
    thread.join(60)
    assert found == [None] and int(queue.dequeue()) == 2


def test_closing_wakes_readers():
    queue = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    thread, found = started(queue.dequeue)
    queue.close()
    thread.join(60)
    assert isinstance(found[0], tf.errors.OutOfRangeError)


def test_closing_may_cancel_writers():
    queue = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    queue.enqueue(1)
    thread, found = started(lambda: queue.enqueue(2))
    queue.close(cancel_pending_enqueues=True)
    thread.join(60)
    assert isinstance(found[0], tf.errors.CancelledError)


def test_a_shuffled_queue_keeps_some_back_until_it_is_closed():
    queue = tf.queue.RandomShuffleQueue(10, 3, [tf.int32], shapes=[[]], seed=1)
    queue.enqueue_many([list(range(5))])
    first = queue.dequeue_many(2).numpy().tolist()
    thread, found = started(queue.dequeue)
    queue.close()
    thread.join(60)
    rest = [int(found[0]), *queue.dequeue_many(2).numpy().tolist()]
    assert sorted(first + rest) == [0, 1, 2, 3, 4]


def test_rows_are_checked():
    queue = tf.queue.FIFOQueue(2, [tf.int32, tf.float32], shapes=[[], [2]])
    with pytest.raises(ValueError, match="2 tensors"):
        queue.enqueue([1])
    with pytest.raises(ValueError, match="incompatible"):
        queue.enqueue([1, [1.0]])
    with pytest.raises(ValueError, match="names"):
        tf.queue.FIFOQueue(2, [tf.int32, tf.float32], names=["a"])


def test_strings_and_scalars_are_stacked():
    queue = tf.queue.PaddingFIFOQueue(5, [tf.string, tf.int32], shapes=[[None], []])
    queue.enqueue((["a"], 1))
    queue.enqueue((["b", "cc"], 2))
    words, numbers = queue.dequeue_many(2)
    assert words.numpy().dtype == object and words.numpy().tolist() == [[b"a", b""], [b"b", b"cc"]]
    assert numbers.numpy().tolist() == [1, 2]
    queue = tf.queue.FIFOQueue(5, tf.string, shapes=[[]])
    queue.enqueue_many([["a", "bbb"]])
    assert queue.dequeue_many(2).numpy().dtype == object
