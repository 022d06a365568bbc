"""What is the same for every test: a base that names no model is searched by words.

Loading the local models takes a second of each process; tests of theirs ask for them by name.
"""

from __future__ import annotations

import os

os.environ.setdefault("HOLDFAST_DEFAULT_EMBEDDING_MODEL", "none")
