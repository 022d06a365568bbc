"""The worlds of the workflow's tests serve the jobs' tests too."""

from tests.workflow.conftest import make_world, world

__all__ = ["make_world", "world"]
