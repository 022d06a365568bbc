"""What must be true of a living installation? The names; the queries bear the same ones."""

from __future__ import annotations

from dataclasses import dataclass

INVARIANTS: dict[str, str] = {
    "i1_active_items_have_work": "an active item has a job that will bring it on",
    "i2_nothing_visible_below_deleting": "what is inside a deleting item is deleting",
    "i4_containers_are_rolled_up": "a container's status follows from what is inside",
    "i5_file_refs_point_to_items": "a file reference belongs to an item that is there",
    "i5_indexed_files_have_their_ref": "an item made of stored bytes refers to them",
    "i7_items_have_base_and_parent": "no item is without its base or parent",
    "i8_one_live_job_per_key": "one unfinished job per idempotency key",
    "i8_one_running_job_per_item": "one running job per item",
    "i9_published_by_a_claim_of_ours": "a published build bears a number that was given",
    "i10_completed_leaves_are_published": "a completed leaf has a build that answers",
    "i12_attempts_within_limits": "attempts and deaths stay within their limits",
    "i12_failures_say_why": "every failed item has code, text and advice",
    "i13_running_jobs_within_caps": "no lane runs more than its cap",
    "i15_children_are_of_their_parents_base": "what hangs together is of one base",
}

AT_REST: dict[str, str] = {
    "l2_deletes_have_work": "what is being deleted has a job that removes it",
    "l2_deleted_bases_have_work": "a base being deleted has a job that removes it",
}

IN_THE_INDEX: dict[str, str] = {
    "i3_one_build_per_item": "at rest no build stands beside the one that answers",
    "i10_published_builds_are_whole": "the build that answers is there, sealed and whole",
    "i11_index_agrees_with_itself": "full text, codes, vectors and chunks hold the same set",
    "i14_files_are_referenced": "every stored file is referenced or young",
    "i14_entries_have_their_bytes": "stored bytes are there, and are those that were stored",
    "i14_indexes_have_their_base": "an index belongs to a base that is there",
    "main_store_is_whole": "the main store can be read and has all its parts",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """A row that disagrees with an invariant."""

    invariant: str
    subject: str
