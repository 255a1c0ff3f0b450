"""BLAS uses one thread while we say so, and then as many as before."""

from tests.common import in_threads

import tapeflow as tf
from tapeflow._src.insides.blas_threads import library_of_numpy, one_blas_thread, use_threads


def count():
    return library_of_numpy().get()


def test_blas_gets_its_threads_back():
    before = count()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    assert count() == 1
    first.__exit__()
    assert count() == 1
    second.__exit__()
    assert count() == before

    def many():
        for _ in range(50):
            with one_blas_thread():
                pass

    in_threads(8, many)
    assert count() == before


def test_what_was_never_left_is_left_when_it_goes():
    before = count()
    scope = one_blas_thread()
    scope.__enter__()
    del scope
    assert count() == before


def test_a_number_that_is_told_meanwhile_holds_afterwards():
    before = count()
    try:
        with one_blas_thread():
            use_threads(before + 1)
            assert count() == 1
        assert count() == before + 1
    finally:
        library_of_numpy().set(before)


def test_the_users_products_have_their_threads():
    before = count()
    x = tf.ones([300, 300])
    for _ in range(3):
        x @ x, tf.reduce_sum(x, 0), tf.einsum("ij,kj->ik", x, x)
        assert count() == before
    images = tf.ones([8, 16, 16, 32])
    filters = tf.ones([3, 3, 32, 64])
    tf.nn.conv2d(images, filters, 1, "SAME")
    assert count() == before
    try:
        tf.matmul(x, tf.ones([299, 300]))
    except tf.errors.InvalidArgumentError:
        assert count() == before
