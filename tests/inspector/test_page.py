"""The page as a file: complete, offline, and safe whatever names are in it."""

import errno
import html
import json
import os
import re

import pytest

import tapeflow
import tapeflow as tf


@pytest.fixture(scope="module")
def page():
    w = tf.Variable([1.0, 2.0], name="</script><b>w")

    def step(x):
        with tf.name_scope("part"):
            return tf.reduce_sum(tf.sin(x * w))

    return tapeflow.inspect(step, tf.ones([2]))


def test_it_is_one_file_that_fetches_nothing(page, tmp_path):
    path = page.save(tmp_path / "new" / "page.html")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text == page.html
    without = text.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not re.search(r"https?://|src=|@import|url\(|fetch\(|XMLHttpRequest", without)
    assert "default-src 'none'" in text


def test_a_full_disk_leaves_the_page_that_was_there(page, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "page.html").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"page\.html; No space left"):
        page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_its_data_are_what_was_collected(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.S)
    assert found
    assert json.loads(found[1]) == page.data
    assert found[1].count("<") == 0


def test_notebooks_show_it(page):
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="')
    source = shown.removeprefix('<iframe srcdoc="').partition('"')[0]
    assert html.unescape(source) == page.html


def test_its_repr(page):
    assert repr(page) == f"<tapeflow page: step, {len(page.data['steps'])} ops>"


def test_numbers_that_are_not_finite_are_no_json(tmp_path):
    text = tapeflow.inspect(tf.math.log, tf.constant([0.0, -1.0])).html
    assert "Infinity" not in text.split('id="data">')[1].split("</script>")[0]
