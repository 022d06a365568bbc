-- What must hold at every instant (DESIGN section 12): each statement answers with what breaks it.

-- name: i1_active_without_work
-- An active item has a live or parked job of its own; a container may have active children instead.
SELECT id FROM items
WHERE status IN ('preparing', 'processing', 'reading', 'embedding')
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.item_id = items.id
    AND jobs.state IN ('ready', 'later', 'parked', 'running'))
  AND NOT (container = 1 AND own_outcome IS NOT NULL AND EXISTS
    (SELECT 1 FROM items AS child WHERE child.parent_id = items.id
       AND child.status IN ('preparing', 'processing', 'reading', 'embedding', 'idle')))
  AND base_id IN (SELECT id FROM bases WHERE status <> 'deleting')

-- name: i4_container_is_not_its_roll_up
-- A container's status follows from its own outcome and its children that are not being deleted.
SELECT id FROM items
WHERE container = 1 AND status NOT IN ('deleting', 'idle') AND status <> CASE
  WHEN own_outcome IS NULL THEN 'preparing'
  WHEN EXISTS (SELECT 1 FROM items AS child WHERE child.parent_id = items.id
    AND child.status IN ('preparing', 'processing', 'reading', 'embedding', 'idle'))
    THEN 'processing'
  WHEN own_outcome = 'failed' THEN 'failed'
  WHEN EXISTS (SELECT 1 FROM items AS child WHERE child.parent_id = items.id
    AND child.status = 'failed') THEN 'failed'
  ELSE 'completed' END

-- name: i5_reference_to_nothing
-- Stored bytes belong to living items.
SELECT source_id FROM file_refs
WHERE source_type = 'item' AND NOT EXISTS (SELECT 1 FROM items WHERE items.id = source_id)

-- name: i5_source_not_held
-- A completed item of given bytes holds exactly these.
SELECT id FROM items
WHERE type = 'file' AND status = 'completed' AND data ->> 'entry' IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM file_refs WHERE source_id = items.id AND role = 'source'
    AND entry_id = items.data ->> 'entry')

-- name: i6_alive_under_deleting
-- Whatever stands below a deleting item is deleting.
SELECT child.id FROM items AS up JOIN items AS child ON child.parent_id = up.id
WHERE up.status = 'deleting' AND child.status <> 'deleting'

-- name: i7_without_base_or_parent
SELECT id FROM items
WHERE NOT EXISTS (SELECT 1 FROM bases WHERE bases.id = items.base_id)
  OR (parent_id IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM items AS up WHERE up.id = items.parent_id))

-- name: i8_one_claim_many_jobs
-- A claim number is one run's; an item has one run.
SELECT 'claim ' || claim FROM jobs WHERE state = 'running' GROUP BY claim HAVING count(*) > 1
UNION ALL
SELECT item_id FROM jobs WHERE state = 'running' AND item_id IS NOT NULL
GROUP BY item_id HAVING count(*) > 1

-- name: i9_claim_above_the_counter
-- Every number that was given stands below the counter, so it is never given again.
SELECT 'claim ' || max(claim) FROM jobs HAVING max(claim) > (SELECT last_claim FROM engine)

-- name: i10_completed_without_build
-- A completed leaf says which build answers, how many chunks it has, and their digest.
SELECT id FROM items
WHERE status = 'completed' AND container = 0
  AND (published_build IS NULL OR digest IS NULL OR published_generation <> generation
    OR progress <> 100)

-- name: i12_failed_without_words
SELECT id FROM items
WHERE status = 'failed' AND (error_code IS NULL OR error IS NULL OR error_advice IS NULL)
UNION ALL
SELECT 'job ' || id FROM jobs
WHERE attempt > 3 AND kind NOT IN ('delete-subtree', 'delete-base')

-- name: i15_foreign_base
-- What is reached from a base carries that base.
SELECT child.id FROM items AS child JOIN items AS up ON up.id = child.parent_id
WHERE up.base_id <> child.base_id
UNION ALL
SELECT 'job ' || jobs.id FROM jobs JOIN items ON items.id = jobs.item_id
WHERE jobs.base_id <> items.base_id
