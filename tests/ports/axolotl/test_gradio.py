"""The page of axolotl's inference answers on an (emulated) NPU: a program, and in a browser."""

from __future__ import annotations

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.fixtures.trainings import free_port
from tests.ports.axolotl.runs import Axolotl, Child
from tests.ports.conftest import Figure

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.slow

PROMPT = "Where is the apple?"
NEW_TOKENS = 24
PATIENCE = 120

each_backend = pytest.mark.parametrize(
    "backend", [pytest.param("cpu", id="sanity, cpu"), "npu-emulated"]
)

CLIENT = """
import sys
from gradio_client import Client
address, prompt = sys.argv[1:]
print(Client(address, verbose=False).predict(prompt, api_name="/predict"))
"""


@contextmanager
def page(axolotl: Axolotl, backend: str) -> Iterator[tuple[str, Child]]:
    """Serves the page, and yields its address and the process."""
    address = f"http://127.0.0.1:{(number := free_port())}/"
    options = {
        "lora_model_dir": "inputs/start",
        "gradio_server_port": number,
        "gradio_max_new_tokens": NEW_TOKENS,
    }
    command = ["axolotl.cli.inference", "lora.yml", "--gradio"]
    with axolotl.started(backend, command, options=options) as child:
        until = time.monotonic() + PATIENCE
        while child.process.poll() is None and time.monotonic() < until:
            try:
                urllib.request.urlopen(address).close()
            except urllib.error.URLError:
                time.sleep(0.2)
            else:
                yield address, child
                return
        child.process.kill()
        pytest.fail(f"the page didn't come up: {child.process.communicate()[0]}")


def ask(axolotl: Axolotl, address: str) -> str:
    """Asks as a program does, and returns the answer."""
    done = subprocess.run(
        [str(axolotl.python), "-c", CLIENT, address, PROMPT],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@each_backend
def test_a_program_is_answered(
    backend: str, original: Axolotl, port: Axolotl, figure: Figure
) -> None:
    with page(port, backend) as (address, child):
        answer = ask(port, address)
        run = child.end("")
    assert answer.startswith(PROMPT)
    assert len(answer) > len(PROMPT) + 5
    assert run.devices == {0: {"cpu" if backend == "cpu" else "npu:0"}}
    assert run.trapped == []
    figure(f"axolotl inference --gradio, {backend}, over HTTP: {run.seconds:.1f} s from the start")
    if backend == "npu-emulated":
        with page(original, backend) as (address, child):
            ask(original, address)
            assert child.end("").devices == {0: {"cpu"}}, "the original answers on the CPU"


@each_backend
def test_a_person_is_answered_in_a_browser(
    backend: str, port: Axolotl, browser: Browser, figure: Figure
) -> None:
    def refuse_the_internet(route: Route) -> None:
        if route.request.url.startswith("http://127.0.0.1:"):
            route.continue_()
        else:
            route.abort()  # fonts, and a script for pages that embed this one

    with page(port, backend) as (address, child):
        tab = browser.new_page()
        tab.route("**/*", refuse_the_internet)
        tab.goto(address, wait_until="domcontentloaded")
        tab.get_by_label("instruction").fill(PROMPT)
        tab.get_by_role("button", name="Submit").click()
        tab.wait_for_function(
            "prompt => [...document.querySelectorAll('textarea')].some("
            "area => area.value.startsWith(prompt) && area.value.length > prompt.length + 5)",
            arg=PROMPT,
        )
        title = tab.title()
        tab.close()
        run = child.end("")
    assert title == "Axolotl Gradio Interface"
    assert run.devices == {0: {"cpu" if backend == "cpu" else "npu:0"}}
    assert run.trapped == []
    figure(
        f"axolotl inference --gradio, {backend}, in Chromium: {run.seconds:.1f} s from the start"
    )
