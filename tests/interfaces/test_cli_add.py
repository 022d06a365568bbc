"""`holdfast add`: documents come in, and what does not is told with a reason and advice."""

from __future__ import annotations

from tests.interfaces.doors import Shell

BROKEN = b"\x01\x02\x00broken\x00"


def test_a_folder_of_files_can_be_searched_after_add(shell: Shell) -> None:
    shell.write({"a.md": "# Lamp\n\nThe lamp hums.", "deep/b.md": "The door is green."})

    added = shell.run("add", "docs")
    hits = shell.json("search", "lamp")["hits"]

    assert added.code == 0
    assert "2 documents ready in default" in added.out
    assert [hit["title"] for hit in hits] == ["a.md"]


def test_chinese_text_is_found(shell: Shell) -> None:
    shell.write({"重置.md": "# 重置设备\n\n长按电源键十秒，设备将恢复出厂设置。"})
    shell.run("add", "docs")

    found = shell.run("search", "恢复出厂")

    assert found.code == 0
    assert "重置.md" in found.out
    assert "长按电源键十秒" in found.out


def test_a_broken_file_is_told_with_reason_and_advice_and_the_rest_is_ready(shell: Shell) -> None:
    shell.write({"good.md": "The lamp hums.", "bad.md": BROKEN})

    added = shell.run("add", "docs")

    assert added.code == 1
    assert "1 document ready in default" in added.out
    (row,) = [line for line in added.out.splitlines() if "bad.md" in line]
    assert "not a text file" in row
    assert "convert the source" in row


def test_a_broken_file_inside_a_folder_names_the_input_it_came_with(shell: Shell) -> None:
    shell.write({"good.md": "The lamp hums."}, "first")
    shell.write({"deep/bad.md": BROKEN}, "second")

    added = shell.json("add", "first", "second", code=1)

    (failed,) = added["failed"]
    assert set(failed) == {"index", "itemId", "path", "error", "code", "advice"}
    assert (failed["index"], failed["code"]) == (1, "unsupported")
    assert failed["path"].endswith("second/deep/bad.md")
    assert [item["status"] for item in added["created"]] == ["completed", "failed"]


def test_an_input_that_is_not_there_is_refused_and_the_others_are_taken(shell: Shell) -> None:
    shell.write({"a.md": "The lamp hums."})

    added = shell.json("add", "nowhere.md", "docs/a.md", code=1)

    (failed,) = added["failed"]
    assert (failed["index"], failed["itemId"], failed["path"]) == (0, None, "nowhere.md")
    assert failed["advice"]
    assert [item["name"] for item in added["created"]] == ["a.md"]


def test_a_note_comes_from_stdin_with_its_title(shell: Shell) -> None:
    added = shell.json("add", "-", "--title", "Tea", stdin="Green tea, three minutes.")

    assert [item["name"] for item in added["created"]] == ["Tea"]
    assert shell.json("search", "minutes")["hits"][0]["title"] == "Tea"


def test_a_note_without_a_title_is_named_by_its_first_line(shell: Shell) -> None:
    added = shell.json("add", "-", stdin="# Tea\n\nGreen tea, three minutes.")

    assert added["created"][0]["name"] == "Tea"


def test_a_named_base_is_made_when_missing(shell: Shell) -> None:
    shell.write({"a.md": "The lamp hums."})

    added = shell.run("add", "docs", "--base", "manuals", "--model", "hash/64")

    assert "Made base manuals" in added.err
    (base,) = shell.json("bases")["items"]
    assert (base["name"], base["embeddingModel"], base["dimensions"]) == ("manuals", "hash/64", 64)


def test_a_base_without_a_model_is_searched_by_words(shell: Shell) -> None:
    shell.json("add", "-", stdin="The lamp hums.")

    (base,) = shell.json("bases")["items"]

    assert (base["embeddingModel"], base["searchMode"]) == (None, "keyword")


def test_without_a_name_items_go_into_the_only_base(shell: Shell) -> None:
    shell.json("add", "-", "--base", "tea", stdin="Green tea.")
    shell.json("add", "-", stdin="Black tea.")

    assert [base["name"] for base in shell.json("bases")["items"]] == ["tea"]


def test_with_several_bases_a_name_is_asked_for(shell: Shell) -> None:
    shell.json("add", "-", "--base", "tea", stdin="Green tea.")
    shell.json("add", "-", "--base", "lamps", stdin="The lamp hums.")

    refused = shell.run("add", "-", "--json", stdin="Which?")

    assert refused.code == 2
    assert "lamps, tea" in refused.error["message"]


def test_what_was_added_before_is_read_again_and_not_doubled(shell: Shell) -> None:
    shell.write({"a.md": "The lamp hums."})
    first = shell.json("add", "docs", "--model", "hash/64")
    shell.write({"a.md": "The lamp hums.", "b.md": "The door is green."})

    again = shell.json("add", "./docs/")

    assert again["created"] == []
    assert [item["id"] for item in again["reindexed"]] == [first["created"][0]["id"]]
    assert {item["name"] for item in shell.json("ls")["items"]} == {"docs", "a.md", "b.md"}
    assert shell.json("stats")["textsEmbedded"] == 2


def test_the_same_path_twice_in_one_call_is_one_item(shell: Shell) -> None:
    shell.write({"a.md": "The lamp hums."})

    added = shell.json("add", "docs/a.md", "./docs/a.md")

    assert len(added["created"]) == 1


def test_no_wait_accepts_and_the_next_command_does_the_work(shell: Shell) -> None:
    shell.write({"a.md": "The lamp hums."})

    added = shell.run("add", "docs", "--no-wait")
    before = shell.json("ls")["items"]
    recovered = shell.run("recover")

    assert added.code == recovered.code == 0
    assert "Accepted 1 item" in added.out
    assert [item["status"] for item in before] == ["preparing"]
    assert shell.json("search", "lamp")["hits"]


def test_more_than_a_thousand_inputs_are_taken(shell: Shell) -> None:
    root = shell.write({f"{number}.md": f"Text {number}." for number in range(1_005)})

    added = shell.json("add", *(str(path) for path in sorted(root.iterdir())), "--no-wait")

    assert len(added["created"]) == 1_005


def test_a_paused_base_accepts_and_nobody_waits_in_vain(shell: Shell) -> None:
    shell.json("add", "-", stdin="Green tea.")
    with shell.read() as hf:
        base = hf.bases()[0].id
    from holdfast import Holdfast

    with Holdfast.open(shell.data, run=False) as hf:
        hf.pause(base)

    added = shell.run("add", "-", stdin="Black tea.")

    assert added.code == 0
    assert "the base is paused" in added.err
