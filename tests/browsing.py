"""Chromium, for tests that look at pages as a person does, and what it complained about or asked for meanwhile."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def opened() -> Iterator[Any]:
    """A browser that notes its messages and requests; the body of a fixture."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not BROWSER or not DRIVER:
        pytest.skip("Chromium and its driver are not installed: make browser")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1600,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def seen_as(browser: Any, width: int, scheme: str) -> None:
    """Sets the width of the screen, and the colours that the person prefers."""
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def complaints(browser: Any) -> list[str]:
    """What was written to the console since the last time."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] != "INFO"]


def requests(browser: Any) -> list[str]:
    """The addresses that were asked for since the last time."""
    events = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return [params["request"]["url"] for params in sent]
