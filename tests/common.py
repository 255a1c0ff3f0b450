"""What tests of several folders use."""

import threading

import pytest

from tapeflow._src.insides.onednn.products import products

NO_PRODUCTS = (
    "oneDNN is not installed, or this processor has no AVX-512: NumPy computes all products"
)
with_products = pytest.mark.skipif(products() is None, reason=NO_PRODUCTS)


def in_threads(count, *functions):
    """Runs functions in threads at once, each as often as it takes to have `count`, and raises what they raise."""
    errors = []
    begin = threading.Barrier(count)

    def run(function):
        try:
            begin.wait()
            function()
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(functions[i % len(functions)],)) for i in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
