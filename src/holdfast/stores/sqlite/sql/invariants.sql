-- What must be true. Every statement answers with the rows that disagree; none is good.

-- name: i1_active_items_have_work
-- An active item has a job, or what is inside it does.
SELECT items.id FROM items JOIN bases ON bases.id = items.base_id
WHERE items.status IN ('preparing', 'processing', 'reading', 'embedding')
  AND bases.status <> 'deleting'
  AND (items.container = 0 OR items.own_outcome IS NULL)
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.item_id = items.id
    AND jobs.state IN ('ready', 'later', 'parked', 'running'))

-- name: i2_nothing_visible_below_deleting
-- What is inside something being deleted is being deleted itself (also I6).
SELECT items.id FROM items JOIN items AS up ON up.id = items.parent_id
WHERE up.status = 'deleting' AND items.status <> 'deleting'

-- name: i4_containers_are_rolled_up
-- A container's status follows from its own outcome and its living children.
SELECT box.id FROM items AS box
WHERE box.container = 1 AND box.status NOT IN ('deleting', 'idle') AND box.status <> CASE
  WHEN box.own_outcome IS NULL THEN 'preparing'
  WHEN EXISTS (SELECT 1 FROM items WHERE parent_id = box.id
    AND status IN ('preparing', 'processing', 'reading', 'embedding', 'idle')) THEN 'processing'
  WHEN box.own_outcome = 'failed' THEN 'failed'
  WHEN EXISTS (SELECT 1 FROM items WHERE parent_id = box.id AND status = 'failed') THEN 'failed'
  ELSE 'completed' END

-- name: i5_file_refs_point_to_items
SELECT source_id FROM file_refs
WHERE source_type = 'item' AND source_id NOT IN (SELECT id FROM items)

-- name: i5_indexed_files_have_their_ref
-- A living item made of stored bytes refers to them.
SELECT items.id FROM items
WHERE items.type = 'file' AND items.status <> 'deleting' AND items.data ->> 'entry' IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM file_refs WHERE source_id = items.id AND role = 'source'
    AND entry_id = items.data ->> 'entry')

-- name: i7_items_have_base_and_parent
SELECT items.id FROM items
WHERE NOT EXISTS (SELECT 1 FROM bases WHERE bases.id = items.base_id)
  OR (parent_id IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM items AS up WHERE up.id = items.parent_id))

-- name: i8_one_live_job_per_key
SELECT key FROM jobs WHERE state IN ('ready', 'later', 'parked', 'running')
GROUP BY key HAVING count(*) > 1

-- name: i8_one_running_job_per_item
SELECT item_id FROM jobs WHERE state = 'running' AND item_id IS NOT NULL
GROUP BY item_id HAVING count(*) > 1

-- name: i9_published_by_a_claim_of_ours
-- A published build is numbered by a claim that was given, and by no later generation.
SELECT items.id FROM items
WHERE published_build > (SELECT last_claim FROM engine)
  OR (published_build IS NULL) <> (published_generation IS NULL)

-- name: i10_completed_leaves_are_published
SELECT id FROM items
WHERE container = 0 AND status = 'completed' AND published_build IS NULL

-- name: i12_attempts_within_limits
SELECT id FROM jobs WHERE lane <> 'urgent' AND state IN ('ready', 'later', 'parked', 'running')
  AND (attempt > 3 OR deaths > 5)

-- name: i12_failures_say_why
SELECT id FROM items WHERE status = 'failed'
  AND (error_code IS NULL OR coalesce(error, '') = '' OR coalesce(error_advice, '') = '')

-- name: i13_running_jobs_within_caps
SELECT lane FROM jobs WHERE state = 'running' GROUP BY lane
HAVING count(DISTINCT slot) > CASE lane WHEN 'index' THEN :index WHEN 'control' THEN :control
  WHEN 'poll' THEN :poll ELSE :urgent END

-- name: i15_children_are_of_their_parents_base
SELECT items.id FROM items JOIN items AS up ON up.id = items.parent_id
WHERE up.base_id <> items.base_id
UNION ALL
SELECT jobs.item_id FROM jobs JOIN items ON items.id = jobs.item_id
WHERE jobs.base_id <> items.base_id

-- name: published_builds
-- What the index must hold for I10: item, build, count and digest as recorded at the publish.
SELECT id, published_build, chunk_count, digest FROM items
WHERE base_id = :base AND container = 0 AND published_build IS NOT NULL AND status <> 'deleting'

-- name: l2_deletes_have_work
-- The outermost deleting items that no unfinished delete has as a root.
SELECT items.id FROM items INDEXED BY items_deleting JOIN bases ON bases.id = items.base_id
WHERE items.status = 'deleting' AND bases.status <> 'deleting'
  AND NOT EXISTS (SELECT 1 FROM items AS up WHERE up.id = items.parent_id AND up.status = 'deleting')
  AND NOT EXISTS (SELECT 1 FROM job_roots JOIN jobs ON jobs.id = job_roots.job_id
    WHERE job_roots.item_id = items.id AND jobs.kind = 'delete-subtree'
      AND jobs.state IN ('ready', 'later', 'parked', 'running'))

-- name: l2_deleted_bases_have_work
SELECT id FROM bases WHERE status = 'deleting' AND NOT EXISTS
  (SELECT 1 FROM jobs WHERE jobs.base_id = bases.id AND kind = 'delete-base'
     AND jobs.state IN ('ready', 'later', 'parked', 'running'))
