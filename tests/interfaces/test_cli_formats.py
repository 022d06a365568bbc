"""Every kind of document: added by the shell, found by a phrase from its middle."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.testing.formats import table


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_each_kind_is_found_on_its_page_below_its_heading(tmp_path: Path) -> None:
    rows = list(table(tmp_path))

    assert len(rows) >= 20
    assert [row for row in rows if not row.right] == []
