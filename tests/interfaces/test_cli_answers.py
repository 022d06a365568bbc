"""Every command answers --json with one document of the documented names."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.interfaces.doors import Shell

ITEM = {
    *("id", "baseId", "groupId", "sourceKey", "type", "name", "source", "data", "attributes"),
    *("status", "errorCode", "error", "errorAdvice", "warning", "generation", "publishedBuild"),
    *("publishedGeneration", "recipe", "ownOutcome", "seen", "size", "workload", "chunkCount"),
    *("progress", "skipped", "indexedAt", "heartbeatAt", "createdAt", "updatedAt"),
    *("deleting", "indexStatus", "pending", "outdated"),
}
HIT = {
    *("chunkId", "itemId", "baseId", "title", "source", "page", "headings", "charStart"),
    *("charEnd", "content", "score", "scoreKind", "rank", "stale", "generation"),
}
BASE = {
    *("id", "name", "group", "status", "errorCode", "embeddingModel", "dimensions", "space"),
    *("rerankModel", "fileProcessorId", "fileProcessingMaxWait", "chunkSize", "chunkOverlap"),
    *("chunkStrategy", "chunkSeparator", "searchMode", "topK", "threshold", "emptyContent"),
    *("recovery", "keepOriginals", "paused", "sync", "createdAt", "updatedAt"),
    *("counts", "itemCount", "chunkCount", "sizeBytes", "percent"),
}
QUEUE = {
    *("queueSize", "processingCount", "activeItemIds", "activeCount", "orphanItemIds"),
    *("orphanCount", "deletingCount", "percent"),
}


@pytest.fixture
def filled(shell: Shell) -> Shell:
    """A folder with two files, one of them in a folder inside."""
    shell.write({"a.md": "# Lamp\n\nThe lamp hums.", "deep/b.md": "The door is green."})
    shell.json("add", "docs", "--model", "hash/64")
    return shell


def test_an_item_has_every_documented_field(filled: Shell) -> None:
    shown = filled.json("show", "a.md")

    assert set(shown) == ITEM
    assert (shown["status"], shown["indexStatus"], shown["progress"]) == (
        "completed",
        "success",
        100,
    )


def test_times_are_iso_in_utc(filled: Shell) -> None:
    created = filled.json("show", "a.md")["createdAt"]

    assert created.endswith("Z")
    assert datetime.fromisoformat(created).tzinfo is not None


def test_show_adds_the_passages_when_asked(filled: Shell) -> None:
    (chunk,) = filled.json("show", "b.md", "--chunks")["chunks"]

    assert chunk["content"] == "The door is green."
    assert "The door is green." in filled.run("show", "b.md", "--chunks").out


def test_search_answers_hits_and_warnings(filled: Shell) -> None:
    answer = filled.json("search", "lamp")

    assert set(answer) == {"hits", "warnings"}
    assert set(answer["hits"][0]) >= HIT


def test_ls_answers_everything_as_a_page(filled: Shell) -> None:
    page = filled.json("ls")

    assert set(page) == {"items", "nextCursor"}
    assert {item["name"] for item in page["items"]} == {"docs", "deep", "a.md", "b.md"}


def test_ls_of_a_folder_answers_what_is_directly_inside(filled: Shell) -> None:
    page = filled.json("ls", "docs")

    assert {item["name"] for item in page["items"]} == {"deep", "a.md"}


def test_pages_of_ls_meet_every_item_of_every_base_once(filled: Shell) -> None:
    filled.json("add", "-", "--base", "tea", stdin="Green tea.")
    names: list[str] = []
    cursor: list[str] = []
    while True:
        page = filled.json("ls", "--limit", "2", *cursor)
        names += [item["name"] for item in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = ["--cursor", page["nextCursor"]]

    assert sorted(names) == ["Green tea.", "a.md", "b.md", "deep", "docs"]


def test_ls_draws_a_tree_with_states(filled: Shell) -> None:
    lines = filled.run("ls").out.splitlines()

    assert lines[0].startswith("default")
    assert [line.strip("│├└─ ").split("  ")[0] for line in lines[1:]] == [
        "docs/",
        "deep/",
        "b.md",
        "a.md",
    ]
    assert "completed" in lines[4]


def test_ls_of_one_state_keeps_the_folders_on_the_way(filled: Shell) -> None:
    filled.write({"deep/bad.md": b"\x00\x00"})
    filled.run("add", "docs")

    shown = filled.run("ls", "--status", "failed").out

    assert "bad.md" in shown
    assert "deep/" in shown
    assert "a.md" not in shown


def test_bases_answer_settings_state_and_numbers(filled: Shell) -> None:
    (base,) = filled.json("bases")["items"]

    assert set(base) >= BASE
    assert (base["itemCount"], base["chunkCount"], base["counts"]) == (4, 2, {"completed": 4})


def test_queue_answers_numbers_of_all_or_of_one_base(filled: Shell) -> None:
    filled.json("add", "-", "--no-wait", stdin="Green tea.")

    assert filled.json("queue")["queueSize"] == 1
    assert set(filled.json("queue", "--base", "default")) >= QUEUE
    assert "Green tea." in filled.run("queue").out


def test_explain_says_why_an_item_waits(filled: Shell) -> None:
    filled.json("add", "-", "--no-wait", stdin="Green tea.")

    why = filled.json("explain", "Green tea.")

    assert set(why) >= {"itemId", "status", "reason", "sentence", "until", "attempt", "lastError"}
    assert why["reason"] == "next"
    assert "starts as soon as a slot is free" in filled.run("explain", "Green tea.").out


def test_history_tells_what_happened_also_when_the_item_is_gone(filled: Shell) -> None:
    item = filled.json("show", "a.md")["id"]
    filled.json("rm", "a.md")

    past = filled.json("history", item)

    assert set(past) == {"items", "nextCursor"}
    statuses = [event["status"] for event in past["items"]]
    assert statuses[0] == "processing"
    assert "deleting" in statuses
    assert {"id", "at", "kind", "itemId", "baseId", "status", "generation"} <= set(past["items"][0])


def test_stats_count_what_was_embedded(filled: Shell) -> None:
    numbers = filled.json("stats")

    assert (numbers["textsEmbedded"], numbers["textsReused"]) == (2, 0)
    assert [one["name"] for one in numbers["providers"]] == ["hash"]


def test_rm_hides_at_once_and_leaves_nothing_to_do(filled: Shell) -> None:
    folder = filled.json("show", "docs")["id"]

    gone = filled.json("rm", "docs")

    assert gone == {"itemIds": [folder]}
    assert filled.json("search", "lamp")["hits"] == []
    assert filled.json("queue")["queueSize"] == 0
    assert (filled.home / "docs" / "a.md").exists()


def test_rm_of_a_whole_base_leaves_no_base(filled: Shell) -> None:
    filled.json("rm", "--whole-base", "--base", "default")

    assert filled.json("bases")["items"] == []


def test_reindex_reads_again_and_embeds_only_what_is_new(filled: Shell) -> None:
    filled.write({"a.md": "# Lamp\n\nThe lamp sings."})

    done = filled.json("reindex", "docs")

    assert set(done) == {"itemIds", "skipped", "failed", "interrupted"}
    assert len(done["itemIds"]) == 1
    assert filled.json("search", "sings")["hits"]
    assert filled.json("stats")["textsEmbedded"] == 3


def test_recover_and_dismiss_answer_the_items_concerned(filled: Shell) -> None:
    assert filled.json("recover")["itemIds"] == []
    assert filled.json("dismiss") == {"itemIds": []}


def test_doctor_answers_its_findings(filled: Shell) -> None:
    assert filled.json("doctor") == {"healthy": True, "findings": []}
    assert filled.json("doctor", "--repair") == {"healthy": True, "findings": []}


def test_selftest_answers_what_it_saw(shell: Shell) -> None:
    report = shell.json("selftest")

    assert report["ok"]
    assert (report["kills"], report["lost"], report["findings"]) == (0, [], [])


def test_common_options_stand_before_or_after_the_command(filled: Shell) -> None:
    filled.patch.delenv("HOLDFAST_DATA")
    data = str(filled.data)

    before = filled.run("--data", data, "--json", "bases")
    after = filled.run("bases", "--data", data, "--json")

    assert before.document == after.document
    assert before.code == after.code == 0


def test_the_data_folder_defaults_to_the_user_s(shell: Shell) -> None:
    shell.patch.delenv("HOLDFAST_DATA")
    shell.patch.setenv("XDG_DATA_HOME", str(shell.home / "share"))

    shell.json("add", "-", stdin="Green tea.")

    assert (shell.home / "share" / "holdfast" / "holdfast.db").exists()


def test_settings_come_from_the_named_file(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOLDFAST_DEFAULT_EMBEDDING_MODEL")  # the environment would win
    config = shell.home / "my.toml"
    config.write_text('default_embedding_model = "hash/64"\n', "utf-8")

    shell.json("add", "-", "--config", str(config), stdin="Green tea.")

    (base,) = shell.json("bases")["items"]
    assert base["embeddingModel"] == "hash/64"


def test_an_item_is_named_by_id_by_either_end_of_it_by_path_or_by_name(filled: Shell) -> None:
    item = filled.json("show", "a.md")["id"]
    path = str(filled.home / "docs" / "a.md")

    for name in (item, item[-8:], path, "docs/a.md", "./docs/a.md", "a.md"):
        assert filled.json("show", name)["id"] == item, name


def test_json_stays_on_stdout_and_messages_go_to_stderr(shell: Shell) -> None:
    said = shell.run("add", "-", "--json", stdin="Green tea.")

    assert said.document["created"]
    assert "Made base default" in said.err


def test_in_a_pipe_there_are_no_colours_and_no_live_parts(filled: Shell) -> None:
    filled.write({"bad.md": b"\x00"})
    said = [filled.run(*words) for words in (["add", "docs"], ["ls"], ["search", "lamp"])]

    assert not any("\x1b" in one.out + one.err for one in said)
    assert not any(line != line.rstrip() for one in said for line in one.out.splitlines())
