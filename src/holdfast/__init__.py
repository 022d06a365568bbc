"""Holdfast keeps documents searchable, whatever happens to the machine.

What is named here is the whole public library; everything else in the package is private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.domain.errors import HoldfastError as HoldfastError
    from holdfast.domain.items import Directory as Directory
    from holdfast.domain.items import File as File
    from holdfast.domain.items import Note as Note
    from holdfast.domain.items import Sitemap as Sitemap
    from holdfast.domain.items import Url as Url
    from holdfast.interfaces.library import Holdfast as Holdfast

__version__ = "0.1.0"

_HOMES = {
    "Holdfast": "holdfast.interfaces.library",
    "HoldfastError": "holdfast.domain.errors",
    "Directory": "holdfast.domain.items",
    "File": "holdfast.domain.items",
    "Note": "holdfast.domain.items",
    "Sitemap": "holdfast.domain.items",
    "Url": "holdfast.domain.items",
}

__all__ = ["Directory", "File", "Holdfast", "HoldfastError", "Note", "Sitemap", "Url"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `import holdfast` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
