"""Pages and sitemaps by the shell, from a real server that the settings allow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interfaces.doors import Shell
from tests.stages.web.servers import Asked, Reply, Site, site
from tests.workflow.webs import html

PAGES = {
    "/reset": html("Hold both buttons until the lamp blinks.", "How to reset"),
    "/heron": html("The heron stands in the pond.", "Herons"),
}


def answer(asked: Asked) -> Reply:
    if asked.path in ("/sitemap.xml", "/all"):
        rows = "".join(f"<url><loc>{path}</loc></url>" for path in PAGES)
        return Reply(f"<urlset>{rows}</urlset>".encode())
    if asked.path in PAGES:
        return Reply(PAGES[asked.path], headers={"Content-Type": "text/html"})
    return Reply(status=404)


@pytest.fixture
def server(shell: Shell) -> Iterator[Site]:
    with site(answer) as there:
        shell.patch.setenv("HOLDFAST_FETCH_PORTS", str(there.port))
        shell.patch.setenv("HOLDFAST_FETCH_ALLOW", "127.0.0.1")
        yield there


def test_a_page_is_added_and_found_with_its_title(shell: Shell, server: Site) -> None:
    url = f"http://127.0.0.1:{server.port}/reset"

    added = shell.json("add", url)
    found = shell.run("search", "lamp blinks")

    assert [(item["type"], item["name"]) for item in added["created"]] == [("url", "How to reset")]
    assert "How to reset" in found.out
    assert url in found.out


def test_a_page_added_again_is_fetched_again(shell: Shell, server: Site) -> None:
    url = f"http://127.0.0.1:{server.port}/reset"
    first = shell.json("add", url)

    again = shell.json("add", f"HTTP://127.0.0.1:{server.port}/reset")

    assert [item["id"] for item in again["reindexed"]] == [first["created"][0]["id"]]
    assert [asked.path for asked in server.asked] == ["/reset", "/reset"]


@pytest.mark.parametrize(("path", "option"), [("/sitemap.xml", []), ("/all", ["--sitemap"])])
def test_a_sitemap_brings_its_pages(
    shell: Shell, server: Site, path: str, option: list[str]
) -> None:
    url = f"http://127.0.0.1:{server.port}{path}"

    added = shell.json("add", url, *option)

    assert [item["type"] for item in added["created"]] == ["sitemap"]
    assert "Herons" in shell.run("search", "heron").out
    assert len(shell.json("add", url, *option)["reindexed"]) == 1


def test_what_could_not_be_fetched_is_told_with_why_and_what_to_do(
    shell: Shell, server: Site
) -> None:
    gone = f"http://127.0.0.1:{server.port}/gone"

    added = shell.run("add", gone, "http://10.0.0.1/", "ftp://a.example/", "http://u:p@b.example/")

    assert added.code == 1
    told = " ".join(added.out.split())
    for word in ("/gone", "404", "10.0.0.1", "private address", "may not carry"):
        assert word in told


def test_the_option_speaks_of_addresses(shell: Shell) -> None:
    shell.write({"a.md": "text"})

    assert shell.run("add", str(shell.home / "docs"), "--sitemap").code == 2
