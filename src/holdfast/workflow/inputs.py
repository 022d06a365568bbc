"""Which inputs can be accepted, and what do they become?"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import TypeGuard

from holdfast.domain.addresses import address_of, is_web, names_sitemap
from holdfast.domain.errors import HoldfastError, InvalidInput, Permanent
from holdfast.domain.files import FileEntry
from holdfast.domain.ids import BaseId, EntryId, ItemId
from holdfast.domain.item_states import first_status
from holdfast.domain.items import (
    MAX_NAME,
    Directory,
    File,
    Input,
    ItemType,
    NewItem,
    Note,
    Refused,
    Sitemap,
    Url,
    checked_attributes,
    workload_of_text,
)
from holdfast.domain.paths import as_text
from holdfast.workflow.workbench import Workbench


@dataclass(slots=True)
class Sorted:
    """The inputs of one call: what they become, and those refused with their reasons."""

    items: list[NewItem] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    entries: dict[ItemId, FileEntry] = field(default_factory=dict)
    contents: dict[EntryId, bytes] = field(default_factory=dict)


def sort_inputs(kb: Workbench, base: BaseId, inputs: Sequence[Input | str]) -> Sorted:
    """Look at every input once, outside any transaction."""
    found = Sorted()
    for index, given in enumerate(inputs):
        try:
            found.items.append(_item(kb, base, given, found))
        except HoldfastError as error:
            path = shown(given)
            found.refused.append(Refused(index, path, error.code, str(error), error.advice))
    return found


def shown(given: object) -> str:
    """The path, URL or title an input is known by in answers."""
    match given:
        case str():
            return given
        case File(path=path, name=name):
            return str(path or name or "")
        case Directory(path=path):
            return str(path)
        case Url(url=url) | Sitemap(url=url):
            return str(url)
        case Note(title=title, content=content):
            return str(title or title_of(str(content)))
        case _:
            return type(given).__name__


def _item(kb: Workbench, base: BaseId, given: Input | str, found: Sorted) -> NewItem:
    match given:
        case str():
            return _item(kb, base, _meant(kb, given), found)
        case Note():
            return _note(kb, base, given)
        case File(content=None):
            return _file(kb, base, given)
        case File():
            return _bytes(kb, base, given, found)
        case Directory():
            return _directory(kb, base, given)
        case Url():
            return _url(kb, base, given)
        case Sitemap():
            return _sitemap(kb, base, given)
        case _:
            raise InvalidInput(
                f"{type(given).__name__} cannot be added; give a path, File, Directory or Note"
            )


def _meant(kb: Workbench, text: str) -> Input:
    """A bare string is a URL or a path."""
    if is_web(text):
        return Sitemap(text) if names_sitemap(text) else Url(text)
    if not is_path(text):
        raise InvalidInput(f"{text!r} is neither an address nor a path")
    return Directory(text) if kb.files.look(text).kind == "directory" else File(text)


def _note(kb: Workbench, base: BaseId, note: Note) -> NewItem:
    content = checked_text(note.content)
    name = checked_name(note.title if note.title is not None else title_of(content))
    return NewItem(
        id=ItemId(kb.ids.new()),
        base_id=base,
        type=ItemType.NOTE,
        name=name,
        source=name,
        status=first_status(is_container=False),
        data={"content": content},
        attributes=checked_attributes(note.attributes),
        size=len(content.encode()),
        workload=workload_of_text(content),
    )


def _file(kb: Workbench, base: BaseId, file: File) -> NewItem:
    if not is_path(file.path):
        raise InvalidInput("a File needs a path, or content and a name")
    path = _place(kb, file.path)
    look = kb.files.look(path)
    if look.kind != "file":
        raise Permanent(f"{as_text(path)} is not a regular file", code="unsupported")
    limit = kb.settings.max_file_bytes
    if limit is not None and look.size > limit:
        raise Permanent(
            f"{as_text(path)} has {look.size} bytes; max_file_bytes is {limit}", code="too_large"
        )
    return NewItem(
        id=ItemId(kb.ids.new()),
        base_id=base,
        type=ItemType.FILE,
        name=checked_name(file.name or PurePath(path).name),
        source=as_text(path),
        status=first_status(is_container=False),
        data={"path": path},
        attributes=checked_attributes(file.attributes),
        size=look.size,
        workload=look.size,
    )


def _bytes(kb: Workbench, base: BaseId, file: File, found: Sorted) -> NewItem:
    content: object = file.content
    if not isinstance(content, bytes) or not file.name:
        raise InvalidInput("a File given as content needs bytes and a name")
    item, entry = ItemId(kb.ids.new()), entry_of(kb, content)
    new = NewItem(
        id=item,
        base_id=base,
        type=ItemType.FILE,
        name=checked_name(file.name),
        source=checked_name(file.name),
        status=first_status(is_container=False),
        data={"entry": entry.id, "sha256": entry.sha256, "size": entry.size},
        attributes=checked_attributes(file.attributes),
        size=entry.size,
        workload=entry.size,
    )
    found.entries[item], found.contents[entry.id] = entry, content
    return new


def _directory(kb: Workbench, base: BaseId, folder: Directory) -> NewItem:
    if not is_path(folder.path):
        raise InvalidInput("a Directory needs a path")
    path = _place(kb, folder.path)
    if kb.files.look(path).kind != "directory":
        raise Permanent(f"{as_text(path)} is not a folder", code="unsupported")
    return NewItem(
        id=ItemId(kb.ids.new()),
        base_id=base,
        type=ItemType.DIRECTORY,
        name=checked_name(PurePath(path).name or path),
        source=as_text(path),
        status=first_status(is_container=True),
        data={"path": path, "recursive": bool(folder.recursive)},
        attributes=checked_attributes(folder.attributes),
    )


def _url(kb: Workbench, base: BaseId, url: Url) -> NewItem:
    """Whether it may be fetched is asked when it is: a name may lead elsewhere by then."""
    address = str(address_of(url.url))
    return NewItem(
        id=ItemId(kb.ids.new()),
        base_id=base,
        type=ItemType.URL,
        name=checked_name(address),
        source=url.url,
        status=first_status(is_container=False),
        data={"url": address},
        attributes=checked_attributes(url.attributes),
    )


def _sitemap(kb: Workbench, base: BaseId, sitemap: Sitemap) -> NewItem:
    address = str(address_of(sitemap.url))
    return NewItem(
        id=ItemId(kb.ids.new()),
        base_id=base,
        type=ItemType.SITEMAP,
        name=checked_name(address),
        source=sitemap.url,
        status=first_status(is_container=True),
        data={"url": address},
        attributes=checked_attributes(sitemap.attributes),
    )


def _place(kb: Workbench, given: str) -> str:
    """The absolute path; what is ours is not taken in, or it would grow by being read."""
    path = kb.files.absolute(given)
    if kb.files.owns(path):
        raise InvalidInput(f"{as_text(path)} is inside the data folder of this engine")
    return path


def is_path(given: object) -> TypeGuard[str]:
    """A name a file can have here: not empty, no NUL, and every character has its bytes."""
    if not isinstance(given, str) or not given or "\x00" in given:
        return False
    try:
        given.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def entry_of(kb: Workbench, content: bytes) -> FileEntry:
    """A new entry for these bytes; its path is never given twice."""
    limit = kb.settings.max_upload_bytes
    if len(content) > limit:
        raise Permanent(
            f"{len(content)} bytes given; max_upload_bytes is {limit}", code="too_large"
        )
    return FileEntry(EntryId(kb.ids.new()), sha256(content).hexdigest(), len(content))


def checked_text(content: object) -> str:
    if not isinstance(content, str):
        raise InvalidInput(f"a note's content is text, not {type(content).__name__}")
    try:
        content.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"a note's content is not valid Unicode: {error.reason}") from error
    return content.replace("\x00", "")


def checked_name(name: object) -> str:
    text = name.encode("utf-8", "replace").decode() if isinstance(name, str) else ""
    clean = unicodedata.normalize("NFC", text).replace("\x00", "").strip()
    if not clean:
        raise InvalidInput(f"a name is text that is not empty, not {name!r}")
    return clean[:MAX_NAME]


def title_of(content: str) -> str:
    """The first line with something in it stands for a title."""
    lines = (line.strip().lstrip("# ") for line in content[:2_000].splitlines())
    return next((line[:80] for line in lines if line), "Note")
