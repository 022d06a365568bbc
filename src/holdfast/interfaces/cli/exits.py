"""What does the exit code say?"""

from __future__ import annotations

DONE = 0
FAILED = 1  # something could not be done, or some of it
WRONG_USE = 2  # the request itself makes no sense
INTERRUPTED = 130
