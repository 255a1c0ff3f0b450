"""The built site in a browser, from a server and from the disk: what a person does, and that nothing is fetched."""

import functools
import http.server
import threading
import time

import pytest
from tests import browsing
from tests.documentation.pages import ROOT

pytestmark = pytest.mark.browser

SITE = ROOT / "build/site"
if not (SITE / "search/search_index.json").exists():
    pytest.skip("the site is not built: make docs", allow_module_level=True)

browser = pytest.fixture(scope="module")(browsing.opened)


@pytest.fixture(scope="module")
def server():
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


class Reader:
    """Somebody at the browser."""

    def __init__(self, browser, home):
        self.browser, self.home = browser, home

    def open(self, page="index.html", width=1600, scheme="light"):
        browsing.seen_as(self.browser, width, scheme)
        self.browser.get(f"{self.home}/{page}")

    def forget(self):
        """Forgets which colours were chosen, in a place where no script of the site would note them again."""
        self.browser.get(f"{self.home}/source/src/tapeflow/_src/autodiff/tape.py.html")
        self.see("localStorage.clear()")

    def see(self, script, *arguments):
        """What a line of JavaScript gives."""
        return self.browser.execute_script(f"return {script}", *arguments)

    def wait(self, script, *arguments):
        """What a line of JavaScript gives, as soon as that is something."""
        end = time.monotonic() + 120
        while not (found := self.see(script, *arguments)):
            assert time.monotonic() < end, f"waited for {script}"
            time.sleep(0.05)
        return found

    def click(self, selector):
        self.browser.find_element("css selector", selector).click()

    def search(self, words):
        """The titles that a search finds, the best first."""
        if self.see("innerWidth") < 900:
            self.click("label.md-header__button[for=__search]")
        self.click(".md-search__input")
        self.browser.find_element("css selector", ".md-search__input").send_keys(words)
        self.wait(f"document.querySelectorAll({RESULT!r}).length")
        # Results come in one after the other, and the list is replaced as more is typed.
        last = words.split()[-1].split(".")[-1].lower()
        self.wait(f"document.querySelector({RESULT!r})?.innerText.toLowerCase().includes({last!r})")
        return self.see(
            f"[...document.querySelectorAll({RESULT!r} + ' h1')].map((e) => e.innerText)"
        )


RESULT = ".md-search-result__item > a.md-search-result__link"


@pytest.fixture(params=["server", "disk"])
def reader(request, browser, server):
    home = server if request.param == "server" else SITE.as_uri()
    browsing.complaints(browser), browsing.requests(browser)
    yield Reader(browser, home)
    assert browsing.complaints(browser) == []
    asked = browsing.requests(browser)
    assert asked
    near = (f"{home}/", "data:", "blob:", "about:")
    assert [address for address in asked if not address.startswith(near)] == []


@pytest.mark.parametrize("reader", ["server"], indirect=True)
@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["index", "api/tf/linalg/svd", "gallery", "from_pytorch"])
def test_it_fits_any_width_in_both_schemes(reader, page, width, scheme):
    reader.forget()
    reader.open(f"{page}.html", width, scheme)
    assert reader.see("document.documentElement.scrollWidth <= innerWidth")
    wanted = {"light": "default", "dark": "slate"}[scheme]
    reader.wait("document.body.dataset.mdColorScheme === arguments[0]", wanted)
    assert reader.see("[...document.images].every((i) => i.complete && i.naturalWidth > 0)")


def test_search_finds_a_name_and_leads_to_it(reader):
    reader.open()
    assert reader.search("tf.linalg.svd")[0] == "tf.linalg.svd"
    reader.click(RESULT)
    reader.wait("document.querySelector('h1')?.innerText.startsWith('tf.linalg.svd')")
    assert reader.see("location.pathname").endswith("/api/tf/linalg/svd.html")
    assert "full_matrices" in reader.see("document.querySelector('article').innerText")


@pytest.mark.parametrize("width", [400, 1600])
def test_search_understands_a_question(reader, width):
    reader.open("tape.html", width)
    assert reader.search("why is my gradient None")[0] == "Why is my gradient None?"


def test_a_name_is_found_in_the_reference(reader):
    reader.open()
    reader.click(".md-tabs__link[href$='api/index.html']")
    reader.wait("document.querySelector('h1')?.innerText.startsWith('Reference')")
    reader.click("article a[href='tf/linalg/index.html']")
    reader.wait("document.querySelector('h1')?.innerText.startsWith('tf.linalg')")
    reader.click("article a[href='svd.html']")
    reader.wait("document.querySelector('h1')?.innerText.startsWith('tf.linalg.svd')")
    assert reader.see("document.querySelector('.names .md-nav__link--active').innerText") == "svd"
    reader.click("article a.source")
    line = reader.wait("document.querySelector(':target')?.innerText")
    assert "def svd(" in line


def test_dark_is_chosen_and_stays(reader):
    reader.forget()
    reader.open("tape.html")
    reader.wait("document.body.dataset.mdColorScheme === 'default'")
    reader.click("label.md-header__button[title='Switch to dark']")
    reader.wait("document.body.dataset.mdColorScheme === 'slate'")
    reader.open("function.html")
    reader.wait("document.body.dataset.mdColorScheme === 'slate'")
    reader.forget()


def test_keys_lead_to_the_search(reader):
    reader.open()
    reader.browser.find_element("css selector", "body").send_keys("/")
    reader.wait("document.activeElement.classList.contains('md-search__input')")
