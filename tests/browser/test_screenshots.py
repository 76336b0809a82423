"""Pictures of every page in every state, of real crawls, for the documentation.

Made with GOSSAMER_SCREENSHOTS=1, or =DIRECTORY to keep the single shots too, each at its full size.
"""

import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.clusters import clustered
from tests.browser.conftest import Opener
from tests.browser.pictures.camera import Camera
from tests.browser.pictures.sheets import Shot, make_picture, make_sheet
from tests.browser.watching import PAGES, Tab
from tests.cluster.clustering import GOSSAMER, LONG_LEASE, USUAL
from tests.control.opened import opened
from tests.control.serving import Served, served, until

from gossamer.simweb import Options, serve

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("GOSSAMER_SCREENSHOTS"), reason="GOSSAMER_SCREENSHOTS unset"
    ),
    pytest.mark.timeout(900),
]
IMAGES = Path(__file__).parents[2] / "docs" / "images"
LARGEST = 300_000
SECONDS = 100.0
WEB = Options(
    hosts=400, pages=120_000, port=0, latency="lognormal:40ms,1", errors=0.01, redirects=0.05,
    dead_links=0.02, throttle=0.005, robots=0.5, crawl_delay=0.5, duplicates=0.03, resets=0.004,
    traps=0.05,
)  # fmt: skip
SMALL = WEB.replace(hosts=40, pages=2400, crawl_delay=0.05)
STATES = {
    "empty": "Before the first visit",
    "running": "Running",
    "paused": "Paused",
    "failing": "An outage",
    "done": "Done: gossamer open",
    "look": "Running, with the token that may only look",
    "cluster-empty": "Cluster: no node has joined yet",
    "cluster-running": "Cluster, running",
    "cluster-paused": "Cluster, paused",
    "cluster-failing": "Cluster: a node is lost",
    "cluster-done": "Cluster, done: gossamer open",
    "wrong": "A wrong token",
    "lost": "The control node is away",
    "dark": "Running, dark",
    "phone": "Running, phone",
}
SINGLE = {
    "dashboard": "overview--running",
    "dashboard-settings": "settings--running",
    "dashboard-host": "host--running",
    "dashboard-log": "log--running",
    "dashboard-phone": "overview--phone",
}
"""Pictures that pages of the documentation show one by one."""


@pytest.fixture(scope="module")
def camera(tmp_path_factory: pytest.TempPathFactory) -> Camera:
    given = os.environ.get("GOSSAMER_SCREENSHOTS", "")
    return Camera(Path(given) if "/" in given else tmp_path_factory.mktemp("shots"))


def test_before_the_first_visit(open_tab: Opener, camera: Camera, tmp_path: Path) -> None:
    """A host that takes a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        crawl = Served(tmp_path / "just-begun", None)
        crawl.seed = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        try:
            crawl.start()
            host = crawl.get("/hosts")["hosts"][0]["name"]
            tour(camera, signed_in(open_tab, crawl), "empty", host=host, url=crawl.seed)
        finally:
            crawl.kill()


def test_running_and_paused(open_tab: Opener, camera: Camera, tmp_path: Path) -> None:
    with (
        serve(WEB, log=tmp_path / "requests.log") as web,
        served(tmp_path / "simulated-web", web, "--delay", "300ms") as crawl,
    ):
        begun = time.monotonic()
        login(camera, open_tab, crawl)
        change_settings(camera, open_tab(height=860), crawl)
        crawl.post("/seeds", {"urls": [web.url, "http://127.1.1.9:1/", "no url at all"]})
        time.sleep(max(0.0, begun + SECONDS - time.monotonic()))
        failed = crawl.get("/log", outcome="server_failed", limit=1)["visits"][0]
        one: dict[str, Any] = {"host": failed["host"], "url": failed["url"], "submission": 1}
        wide = signed_in(open_tab, crawl)
        tour(camera, wide, "running", **one, but="settings")
        tour(camera, signed_in(open_tab, crawl, dark=True), "dark", **one)
        tour(camera, signed_in(open_tab, crawl, width=390, height=844), "phone", **one)
        looking = open_tab(height=1000)
        looking.sign_in(crawl.url, crawl.token("token-read"))
        for page in ("overview", "hosts", "settings", "seeds"):
            camera.visit(looking, page, "look")
        crawl.rest()
        tour(camera, wide, "paused", **one)
        crawl.kill()
        expect(wide.page.locator(".lost")).to_be_visible()
        camera.shoot(wide, "login", "lost")


def test_an_outage(open_tab: Opener, camera: Camera, tmp_path: Path) -> None:
    """The line is cut in the middle of a crawl: no host can be reached any more."""
    with (
        serve(WEB.replace(hosts=60, pages=9000), log=tmp_path / "requests.log") as web,
        served(tmp_path / "cut-off", web, "--delay", "500ms") as crawl,
    ):
        until(lambda: web.requests() > 2500, "some visits", 120)
        web.stop()
        until(lambda: outages(crawl), "an outage", 120)
        failed = crawl.get("/log", outcome="connect_failed", limit=1)["visits"][0]
        tab = signed_in(open_tab, crawl)
        tour(camera, tab, "failing", host=failed["host"], url=failed["url"])
        # From the alert to the hosts that it is about.
        tab.go("overview")
        tab.page.get_by_role("link", name="Show the hosts that fail so").first.click()
        expect(tab.page.locator("h1")).to_have_text("Hosts")
        camera.shoot(tab, "hosts", "failing")


def outages(crawl: Served) -> list[Any]:
    return [one for one in crawl.get("/alerts") if one["kind"] == "outage"]


def test_done(open_tab: Opener, camera: Camera, tmp_path: Path) -> None:
    with serve(SMALL) as web:
        crawl = Served(tmp_path / "done", web)
        crawl.start("--delay", "20ms", *QUICK)
        assert crawl.process is not None
        assert crawl.process.wait(300) == 0
    with opened(crawl.out) as view:
        failed = view.get("/log", outcome="server_failed", limit=1)["visits"][0]
        tab = signed_in(open_tab, view)
        tour(camera, tab, "done", host=failed["host"], url=failed["url"])


QUICK = ["--set", "politeness.retry_wait=1s", "--set", "politeness.robots_patience=3s"]
OF_CLUSTERS = ("nodes", "partitions", "overview", "events")


def test_a_cluster(open_tab: Opener, camera: Camera, tmp_path: Path) -> None:
    with serve(WEB.replace(hosts=120, pages=30_000)) as web, clustered(web, tmp_path) as cluster:
        tab = signed_in(open_tab, cluster.served)
        camera.visit(tab, "nodes", "cluster-empty")
        camera.visit(tab, "partitions", "cluster-empty")
        camera.visit(tab, "overview", "cluster-empty")
        for name in ("east", "north", "west"):
            cluster.start_node(name)
        cluster.until_requests(9000)
        for page in OF_CLUSTERS:
            camera.visit(tab, page, "cluster-running")
        for state, looks in (("dark", {"dark": True}), ("phone", {"width": 390, "height": 844})):
            other = signed_in(open_tab, cluster.served, **looks)
            camera.visit(other, "nodes", state)
            camera.visit(other, "partitions", state)
        cluster.served.post("/commands", {"command": "pause"})
        for page in ("nodes", "partitions", "events"):
            camera.visit(tab, page, "cluster-paused")
        cluster.served.post("/commands", {"command": "resume"})
        cluster.nodes["west"].kill()
        until(lambda: states(cluster.served)["west"] != "running", "a node is missed")
        for page in OF_CLUSTERS:
            camera.visit(tab, page, "cluster-failing")


def states(crawl: Served) -> dict[str, str]:
    return {node["id"]: node["state"] for node in crawl.get("/nodes")}


def test_a_cluster_that_is_done(open_tab: Opener, camera: Camera, tmp_path: Path) -> None:
    out = tmp_path / "cluster-done"
    with serve(SMALL) as web:
        command = [
            *GOSSAMER, "cluster", "--nodes", "3", web.url, "--scope", "any", "--allow-private",
            "--delay", "20ms", "--out", str(out), "--json", *USUAL, *LONG_LEASE, *QUICK,
            "--set", "partitions=256",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
    with opened(out) as view:
        tab = signed_in(open_tab, view)
        for page in OF_CLUSTERS:
            camera.visit(tab, page, "cluster-done")


def signed_in(open_tab: Opener, crawl: Served, **looks: Any) -> Tab:
    tab = open_tab(**{"height": 1000} | looks)
    tab.sign_in(crawl.url, crawl.token())
    return tab


def tour(
    camera: Camera, tab: Tab, state: str, *, host: str, url: str, submission: int = 0, but: str = ""
) -> None:
    """Every page; `but` one."""
    for page in PAGES:
        if page != but:
            address = f"url?{urlencode({'u': url})}" if page == "url" else None
            camera.visit(tab, page, state, address)
    camera.visit(tab, "host", state, f"hosts/{host}")
    camera.visit(tab, "submission", state, f"seeds/{submission}")


def login(camera: Camera, open_tab: Opener, crawl: Served) -> None:
    for state, looks in (
        ("running", {}),
        ("dark", {"dark": True}),
        ("phone", {"width": 390, "height": 844}),
    ):
        tab = open_tab(**{"height": 700} | looks)
        tab.page.goto(crawl.url)
        camera.shoot(tab, "login", state)
    wrong = open_tab(height=700)
    wrong.expect_console("401")
    wrong.page.goto(f"{crawl.url}/#token=wrong")
    expect(wrong.page.locator(".problem")).not_to_be_empty()
    camera.shoot(wrong, "login", "wrong")


def change_settings(camera: Camera, tab: Tab, crawl: Served) -> None:
    """A change and its undoing, as the page shows them."""
    tab.sign_in(crawl.url, crawl.token(), "settings")
    page = tab.page
    page.get_by_label("Find").fill("delay")
    for value in ("500ms", "200ms"):
        row = page.locator('.setting[data-name="politeness.delay"]')
        row.get_by_role("button", name="Change").click()
        page.get_by_label("New value of politeness.delay").fill(value)
        row.get_by_role("button", name="Save").click()
        expect(row.locator(".setting-value")).to_have_text(value)
    expect(page.locator(".notice")).to_have_count(0)
    row = page.locator('.setting[data-name="politeness.max_crawl_delay"]')
    row.get_by_role("button", name="Change").click()
    camera.shoot(tab, "settings", "running")


def test_sheets(chromium: Browser, camera: Camera) -> None:
    """Last: puts together what the others took."""
    pages = [*PAGES, "host", "submission", "login"]
    (IMAGES / "pages").mkdir(parents=True, exist_ok=True)
    drawing = chromium.new_page()
    for page in pages:
        files = {state: camera.directory / f"{page}--{state}.png" for state in STATES}
        shots = [Shot(STATES[state], file) for state, file in files.items() if file.exists()]
        assert len(shots) > 3, page
        make_sheet(drawing, shots, IMAGES / "pages" / f"{page}.png")
    for name, shot in SINGLE.items():
        make_picture(drawing, camera.directory / f"{shot}--screen.png", IMAGES / f"{name}.png")
    large = {
        file.name: file.stat().st_size
        for file in [*IMAGES.glob("dashboard*.png"), *IMAGES.glob("pages/*.png")]
        if file.stat().st_size > LARGEST
    }
    assert large == {}
