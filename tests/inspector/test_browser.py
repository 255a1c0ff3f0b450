"""The page in a real browser: what a person does with it, and that nothing is fetched or complained about."""

import numpy as np
import pytest
from tests import browsing

import tapeflow
import tapeflow as tf
from tapeflow._src.inspector.page import Page
from tapeflow._src.inspector.rounds import Rounds

pytestmark = pytest.mark.browser

browser = pytest.fixture(scope="module")(browsing.opened)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A step with layers, and one of 5,000 ops."""
    folder = tmp_path_factory.mktemp("pages")
    w = tf.Variable(np.full([20, 20], 0.1, "float32"), name="w")
    lost = tf.Variable(1.0, name="lost")

    def step(x, blocks):
        with tf.GradientTape() as tape:
            for i in range(blocks):
                with tf.name_scope(f"block_{i}"):
                    x = tf.tanh(x @ w) * 0.5 + x
            loss = tf.reduce_sum(x) * tf.stop_gradient(lost)
        return tape.gradient(loss, [w, lost])

    @tf.function
    def outer(x):
        return tf.tanh(x @ w)

    @tf.function
    def update():
        w.assign(w * 2.0 + w * 2.0)

    def run_once():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(outer(tf.ones([8, 20])))
            update()
        tape.gradient(loss, w)

    with Rounds(1) as rounds:
        run_once()
    found, functions = rounds.collected("train.py"), rounds.functions()
    assert found is not None

    return {
        "functions": Page(found, functions, []).save(folder / "functions.html"),
        "small": tapeflow.inspect(step, tf.ones([8, 20]), 3).save(folder / "small.html"),
        "large": tapeflow.inspect(step, tf.ones([8, 20]), 430).save(folder / "large.html"),
    }


@pytest.fixture
def opened(browser, pages):
    def opened(name="small", width=1600, scheme="light"):
        browsing.seen_as(browser, width, scheme)
        browser.get(f"file://{pages[name]}")
        return browser.execute_script

    yield opened
    assert browsing.complaints(browser) == []
    assert all(address.startswith(("file:", "data:")) for address in browsing.requests(browser))


def press(run, selector, key):
    run(
        "document.querySelector(arguments[0]).dispatchEvent("
        "new KeyboardEvent('keydown', {key: arguments[1], bubbles: true}))",
        selector,
        key,
    )


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_at_any_width_and_in_both_schemes(opened, width, scheme):
    run = opened(width=width, scheme=scheme)
    assert run("return document.documentElement.scrollWidth <= innerWidth")
    assert run("return document.documentElement.dataset.theme") == scheme
    assert run("return document.querySelectorAll('#chart svg path.area').length") == 1
    run("document.getElementById('theme').click()")
    assert run("return document.documentElement.dataset.theme") != scheme


def test_groups_open_and_close(opened):
    run = opened()
    count = "return visible.length"
    run("document.getElementById('close-all').click()")
    closed = run(count)
    run("document.querySelector('.rows .row .twist').click()")
    assert run(count) > closed
    run("document.getElementById('open-all').click()")
    assert run(count) > closed + 3
    assert run("return document.querySelector('.rows').innerText.includes('block_1')")


def test_search(opened):
    run = opened()
    count = run("return steps.filter((s) => s.scope === 'block_2').length")
    run("search('block_2')")
    assert run("return document.getElementById('found').textContent") == f"{count} found"
    run("search('block_2 gradient-of-nothing')")
    assert run("return document.getElementById('found').textContent") == "0 found"
    run("search('')")
    assert run("return document.getElementById('found').textContent") == ""


def test_from_an_op_to_its_gradient_and_back(opened):
    run = opened()
    number = run("return steps.find((s) => s.name === 'tanh').number")
    run("choose(arguments[0])", number)
    assert "tanh" in run("return document.getElementById('details').innerText")
    assert run("return document.querySelectorAll('#chart .arc.chosen').length") > 0
    press(run, "body", "g")
    assert run("return steps[chosen].of") == number
    press(run, "body", "g")
    assert run("return chosen") == number


def test_the_curve_names_what_is_alive(opened):
    run = opened()
    words = "return document.getElementById('alive').innerText"
    at_peak = run(words)
    assert " in " in at_peak
    box = run("return document.getElementById('chart').getBoundingClientRect().toJSON()")
    run(
        "document.getElementById('chart').dispatchEvent(new PointerEvent('pointermove', "
        "{clientX: arguments[0], clientY: arguments[1], bubbles: true}))",
        box["left"] + 70,
        box["top"] + 100,
    )
    assert run("return cursorAt") < 3
    assert run(words) != at_peak
    press(run, "#chart", "End")
    assert run("return cursorAt === steps.length - 1")


def test_keys(opened):
    run = opened()
    press(run, "#rows", "Home")
    press(run, "#rows", "ArrowLeft")
    closed = run("return visible.length")
    press(run, "#rows", "ArrowRight")
    assert run("return visible.length") > closed
    press(run, "#rows", "ArrowDown")
    assert run("return focused") == 1
    press(run, "body", "/")
    assert run("return document.activeElement.id") == "search"


def test_the_path_of_a_missing_gradient_is_drawn(opened):
    run = opened()
    assert run("return document.querySelector('.path .cut').innerText").startswith(
        "✂ stop_gradient"
    )


def test_traced_functions(opened):
    run = opened("functions", width=400)
    titles = run(
        "return [...document.querySelectorAll('.function summary b')].map((b) => b.innerText)"
    )
    assert titles == ["outer", "update", "gradient of outer"]
    (open_one,) = run(
        "return [...document.querySelectorAll('details.function[open] > summary')].map((s) => s.innerText)"
    )
    assert open_one.startswith("update · test_browser.py:")
    assert "traced once" in open_one
    run("document.querySelector('details.function').open = true")
    fates = run("return document.querySelector('details.function .fates').textContent")
    assert "kept" in fates
    assert run("return document.documentElement.scrollWidth <= innerWidth")
    merged = run("return document.querySelectorAll('details.function')[1].textContent")
    assert "the same was computed before" in merged
    assert run("return document.querySelector('#gradients td').innerText") == "w"


def test_thousands_of_ops_are_a_few_rows(opened):
    run = opened("large")
    assert run("return steps.length") > 5000
    run("document.getElementById('open-all').click()")
    assert run("return visible.length") > 2500
    assert run("return document.querySelectorAll('.rows .row').length") < 80
    press(run, "#rows", "End")
    assert run("return document.querySelector('.row.chosen') !== null")
