-- Bases and items. CROSS JOIN is SQLite's word for 'in this order': it knows neither how short our
-- lists are nor how long the table is, and otherwise walks the table.

-- name: insert_base
-- A base is born completed and empty.
INSERT INTO bases (id, name, settings, provider, status, space, recovery, created_at, updated_at)
VALUES (:id, :name, :settings, :provider, 'completed', 1, :recovery, :now, :now)

-- name: update_base
-- What a user may change; the state is changed elsewhere.
UPDATE bases
SET name = :name, settings = :settings, recovery = :recovery, paused = :paused, updated_at = :now
WHERE id = :id AND status <> 'deleting'

-- name: set_base_state
-- The only statement that writes bases.status; deleting is final.
UPDATE bases SET status = :status, error_code = :error_code, updated_at = :now
WHERE id = :id AND status <> 'deleting' AND (status <> :status OR error_code IS NOT :error_code)

-- name: delete_base_row
-- Last of all: nothing of the base is left.
DELETE FROM bases
WHERE id = :id AND status = 'deleting' AND NOT EXISTS (SELECT 1 FROM items WHERE base_id = :id)

-- name: base
SELECT id, settings, status, error_code, space, paused, created_at, updated_at
FROM bases WHERE id = :id

-- name: bases
SELECT id, settings, status, error_code, space, paused, created_at, updated_at
FROM bases WHERE :deleting OR status <> 'deleting' ORDER BY id

-- name: bases_named
SELECT id, settings, status, error_code, space, paused, created_at, updated_at
FROM bases WHERE name = :name AND status <> 'deleting' ORDER BY id

-- name: insert_items
-- One statement for a whole call; T2 refuses children of what is being deleted.
INSERT INTO items (id, base_id, parent_id, source_key, type, container, name, source, data,
  attributes, status, error_code, error, error_advice, generation, seen, size, workload,
  heartbeat_at, created_at, updated_at)
SELECT value ->> 'id', value ->> 'base_id', value ->> 'parent_id', value ->> 'source_key',
  value ->> 'type', value ->> 'container', value ->> 'name', value ->> 'source', value -> 'data',
  value -> 'attributes', value ->> 'status', value ->> 'error_code', value ->> 'error',
  value ->> 'error_advice', 1, value ->> 'seen', value ->> 'size', value ->> 'workload',
  :now, :now, :now
FROM json_each(:items)

-- name: move_items
-- The only statement that writes items.status. No row for an asked move means: superseded.
-- A container that fails before its expansion has ended has its own outcome with that: else the
-- next roll-up would find it still preparing, with nobody to go on.
WITH asked (id, generation, job, claim, target, bump, code, error, advice, warning) AS (
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
    value ->> 6, value ->> 7, value ->> 8, value ->> 9
  FROM json_each(:moves))
UPDATE items
SET status = asked.target,
  generation = items.generation + asked.bump,
  error_code = asked.code, error = asked.error, error_advice = asked.advice,
  warning = asked.warning,
  own_outcome = CASE WHEN asked.bump AND asked.target <> 'deleting' THEN NULL
    WHEN container AND asked.target = 'failed' THEN coalesce(own_outcome, 'failed')
    ELSE own_outcome END,
  own_error = CASE WHEN asked.bump AND asked.target <> 'deleting' THEN NULL
    WHEN container AND asked.target = 'failed' AND own_outcome IS NULL
      THEN json_array(asked.code, asked.error, asked.advice)
    ELSE own_error END,
  progress = CASE WHEN asked.target = 'completed' THEN 100
                  WHEN asked.bump THEN 0 ELSE progress END,
  heartbeat_at = :now, updated_at = :now
FROM asked
WHERE items.id = asked.id
  AND (asked.generation IS NULL OR items.generation = asked.generation)
  AND items.status IN (SELECT value FROM json_each(:sources))
  AND (asked.job IS NULL OR EXISTS
    (SELECT 1 FROM jobs WHERE jobs.id = asked.job AND jobs.claim = asked.claim
       AND jobs.state = 'running'))
RETURNING items.id, items.parent_id

-- name: roll_up_facts
-- What decides a container's status; deleting children do not count.
SELECT box.status, box.parent_id, box.own_outcome, box.own_error, box.error, box.warning,
  EXISTS (SELECT 1 FROM items WHERE parent_id = box.id AND status <> 'deleting'),
  EXISTS (SELECT 1 FROM items WHERE parent_id = box.id
    AND status IN ('preparing', 'processing', 'reading', 'embedding', 'idle')),
  EXISTS (SELECT 1 FROM items WHERE parent_id = box.id AND status = 'failed')
FROM items AS box WHERE box.id = :id

-- name: failed_inside
-- How many failed, and the first three with their reasons.
SELECT (SELECT count(*) FROM items WHERE parent_id = :id AND status = 'failed'),
  (SELECT count(*) FROM items WHERE parent_id = :id AND status <> 'deleting'),
  (SELECT json_group_array(json_array(name, error)) FROM
    (SELECT name, error FROM items WHERE parent_id = :id AND status = 'failed'
     ORDER BY id LIMIT 3))

-- name: set_published
-- In the transaction of the move to completed, which has checked claim and generation.
UPDATE items
SET published_build = value ->> 'build', published_generation = generation,
  recipe = value ->> 'recipe', chunk_count = value ->> 'chunks', digest = value ->> 'digest',
  size = value ->> 'size', workload = value ->> 'workload', warning = value ->> 'warning',
  indexed_at = :now
FROM json_each(:published) WHERE items.id = value ->> 'id'

-- name: set_republished
-- The build that answers is already the right one: only the attempt is newer.
UPDATE items SET published_generation = generation WHERE id = :id AND published_build IS NOT NULL

-- name: forget_builds
-- The index they stood in is lost.
UPDATE items SET published_build = NULL, published_generation = NULL, recipe = NULL
WHERE id IN (SELECT value FROM json_each(:ids)) AND status <> 'deleting'

-- name: lost_leaves
-- What a lost index leaves to be made again.
SELECT id FROM items
WHERE base_id = :base AND container = 0 AND status <> 'deleting'
  AND (published_build IS NOT NULL
    OR (status = 'failed' AND error_code = 'missing_vector_store'))
LIMIT :limit

-- name: set_progress
-- A heartbeat of the run that owns the item; late and foreign ones find no row.
UPDATE items SET progress = max(progress, :percent), heartbeat_at = :now
WHERE id = :item AND generation = :generation AND status IN ('processing', 'reading', 'embedding')
  AND EXISTS (SELECT 1 FROM jobs WHERE id = :job AND claim = :claim AND state = 'running')

-- name: set_own_outcome
-- How a container's own expansion ended.
UPDATE items SET own_outcome = :outcome, own_error = :error, skipped = :skipped, heartbeat_at = :now
WHERE id = :id AND generation = :generation AND status <> 'deleting'

-- name: set_skipped
-- What the listing has passed over so far, page by page.
UPDATE items SET skipped = :skipped
WHERE id = :id AND generation = :generation AND status <> 'deleting'

-- name: set_source
-- The item's new content, before the move that starts its new attempt.
UPDATE items SET data = :data, source = :source, name = :name, size = :size, workload = :workload
WHERE id = :id AND status <> 'deleting'

-- name: set_attributes
UPDATE items SET attributes = :attributes, updated_at = :now WHERE id = :id AND status <> 'deleting'

-- name: items_by_id
SELECT /*item*/ FROM items WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id

-- name: list_inside
-- The roots of a base, or the children of a container: containers first, newest first. The cursor
-- is the last row seen, so inserts do not shift pages.
SELECT /*item*/ FROM items INDEXED BY items_listed
WHERE base_id = :base AND parent_id IS :parent AND (container, id) < (:last_container, :last)
  AND (:deleting OR status <> 'deleting')
  AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
  AND (:type IS NULL OR type = :type)
  AND (:name IS NULL OR instr(lower(name), lower(:name)) > 0)
ORDER BY container DESC, id DESC LIMIT :limit

-- name: list_everywhere
-- All items of a base, in the same order.
SELECT /*item*/ FROM items INDEXED BY items_everywhere
WHERE base_id = :base AND (container, id) < (:last_container, :last)
  AND (:deleting OR status <> 'deleting')
  AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
  AND (:type IS NULL OR type = :type)
  AND (:name IS NULL OR instr(lower(name), lower(:name)) > 0)
ORDER BY container DESC, id DESC LIMIT :limit

-- name: items_at_source
-- What was added from a place; with :roots only what a user added by hand.
SELECT /*item*/ FROM items
WHERE source = :source AND status <> 'deleting' AND (:base IS NULL OR base_id = :base)
  AND (NOT :roots OR parent_id IS NULL)
  AND base_id IN (SELECT id FROM bases WHERE status <> 'deleting')
ORDER BY id LIMIT :limit

-- name: items_named
SELECT /*item*/ FROM items
WHERE name = :name AND status <> 'deleting' AND (:base IS NULL OR base_id = :base)
  AND base_id IN (SELECT id FROM bases WHERE status <> 'deleting')
ORDER BY id LIMIT :limit

-- name: items_at_source_ending
-- The last parts of a path, cut where a name begins.
SELECT /*item*/ FROM items
WHERE substr(source, -length(:tail) - 1) = '/' || :tail AND status <> 'deleting'
  AND (:base IS NULL OR base_id = :base)
  AND base_id IN (SELECT id FROM bases WHERE status <> 'deleting')
ORDER BY id LIMIT :limit

-- name: items_by_piece_of_id
-- Ids of one moment begin alike; their ends differ, so either end will do.
SELECT /*item*/ FROM items
WHERE (substr(id, 1, length(:piece)) = :piece OR substr(id, -length(:piece)) = :piece)
  AND status <> 'deleting' AND (:base IS NULL OR base_id = :base)
  AND base_id IN (SELECT id FROM bases WHERE status <> 'deleting')
ORDER BY id LIMIT :limit

-- name: ancestors
-- Every item above the given ones, with the given one it stands above.
WITH RECURSIVE up (id, above) AS (
  SELECT items.id, items.parent_id FROM items WHERE id IN (SELECT value FROM json_each(:ids))
  UNION ALL
  SELECT up.id, items.parent_id FROM up JOIN items ON items.id = up.above
  WHERE up.above IS NOT NULL)
SELECT id, above FROM up WHERE above IS NOT NULL

-- name: subtree
-- The given roots and all below, as they are inside this transaction.
WITH RECURSIVE inside (id) AS (
  SELECT value FROM json_each(:roots)
  UNION
  SELECT items.id FROM items JOIN inside ON items.parent_id = inside.id)
SELECT items.id, items.name, items.status, items.heartbeat_at,
  EXISTS (SELECT 1 FROM jobs WHERE jobs.item_id = items.id
    AND jobs.state IN ('ready', 'later', 'parked', 'running')),
  EXISTS (SELECT 1 FROM jobs WHERE jobs.item_id = items.id
    AND jobs.state IN ('ready', 'later', 'parked', 'running') AND jobs.state IN ('parked', 'running'))
FROM inside CROSS JOIN items ON items.id = inside.id

-- name: deleting_below
SELECT count(*) FROM (
  WITH RECURSIVE inside (id) AS (
    SELECT :root
    UNION
    SELECT items.id FROM items JOIN inside ON items.parent_id = inside.id)
  SELECT 1 FROM inside CROSS JOIN items ON items.id = inside.id WHERE items.status = 'deleting')

-- name: completed_leaves
-- The leaves below a container in tree order, each with the build that answers.
WITH RECURSIVE inside (id, path) AS (
  SELECT :root, ''
  UNION ALL
  SELECT items.id, inside.path || '/' || items.source_key
  FROM items JOIN inside ON items.parent_id = inside.id WHERE items.status <> 'deleting')
SELECT items.id, items.published_build FROM inside CROSS JOIN items ON items.id = inside.id
WHERE items.container = 0 AND items.status = 'completed' AND items.published_build IS NOT NULL
  AND items.chunk_count > 0
ORDER BY inside.path, items.id

-- name: masked
-- What a search must not see: items being deleted (normally none).
SELECT id FROM items WHERE base_id = :base AND status = 'deleting'

-- name: standing_of
-- The last act of every search: which of these still answer, with which build. The plus keeps
-- the planner from walking through the whole base.
SELECT items.id, items.published_build, items.published_generation, items.generation,
  items.status, items.name, items.source
FROM items JOIN bases ON bases.id = items.base_id
WHERE items.id IN (SELECT value FROM json_each(:ids))
  AND +items.base_id = :base AND items.status <> 'deleting' AND bases.status <> 'deleting'

-- name: filterable
-- What filters look at, of all that may answer.
SELECT id, type, source, attributes, created_at, updated_at FROM items
WHERE base_id = :base AND status <> 'deleting' AND published_build IS NOT NULL

-- name: published
-- The builds that answer; those of deleting items are the delete's to remove, not the sweep's.
SELECT id, published_build FROM items
WHERE id IN (SELECT value FROM json_each(:ids)) AND +base_id = :base
  AND published_build IS NOT NULL

-- name: unsettled
-- Items that something will still happen to by itself.
SELECT items.id FROM items
WHERE items.id IN (SELECT value FROM json_each(:ids))
  AND (items.status NOT IN ('completed', 'failed', 'idle')
    OR EXISTS (SELECT 1 FROM job_roots JOIN jobs ON jobs.id = job_roots.job_id
         WHERE job_roots.item_id = items.id AND jobs.state IN ('ready', 'later', 'running')))

-- name: idle_items
SELECT id FROM items WHERE base_id = :base AND status = 'idle' LIMIT :limit

-- name: counts
SELECT status, count(*) FROM items WHERE base_id = :base GROUP BY status

-- name: weights
-- Workload and progress of the leaves and undeveloped containers of a base, summed by percentage.
SELECT sum(max(1, workload)), sum(max(1, workload) *
  CASE WHEN status IN ('completed', 'failed') THEN 100 ELSE progress END)
FROM items WHERE base_id = :base AND container = 0 AND status <> 'deleting'

-- name: weights_below
WITH RECURSIVE inside (id) AS (
  SELECT :root
  UNION
  SELECT items.id FROM items JOIN inside ON items.parent_id = inside.id)
SELECT sum(max(1, workload)), sum(max(1, workload) *
  CASE WHEN status IN ('completed', 'failed') THEN 100 ELSE progress END)
FROM inside CROSS JOIN items ON items.id = inside.id
WHERE items.container = 0 AND items.status <> 'deleting'

-- name: tally_below
-- The leaves of these subtrees by how they stand, the containers still being listed, and how many
-- entries the containers passed over.
WITH RECURSIVE inside (id) AS (
  SELECT value FROM json_each(:roots)
  UNION
  SELECT items.id FROM items JOIN inside ON items.parent_id = inside.id)
SELECT total(1 - container), total(container = 0 AND status = 'completed'),
  total(container = 0 AND status = 'failed'), total(container AND status = 'preparing'),
  total(iif(container, 0, chunk_count)), total(iif(container, 0, max(1, workload))),
  total(CASE WHEN container THEN 0 WHEN status IN ('completed', 'failed')
    THEN max(1, workload) ELSE max(1, workload) * progress / 100.0 END),
  total(skipped ->> 'count')
FROM inside JOIN items ON items.id = inside.id WHERE items.status <> 'deleting'

-- name: failed_below
-- What failed by itself in these subtrees: leaves, and containers that could not be listed.
SELECT /*item*/ FROM items WHERE status = 'failed' AND (container = 0 OR own_outcome = 'failed')
  AND id IN (
    WITH RECURSIVE inside (id) AS (
      SELECT value FROM json_each(:roots)
      UNION
      SELECT items.id FROM items JOIN inside ON items.parent_id = inside.id)
    SELECT id FROM inside)
ORDER BY id LIMIT :limit

-- name: totals
-- The leaves of a base, those that failed, chunks that answer, and bytes they were made of.
SELECT count(*), total(status = 'failed'), total(chunk_count), total(size) FROM items
WHERE base_id = :base AND container = 0 AND status <> 'deleting'

-- name: children_by_key
SELECT /*item*/ FROM items
WHERE parent_id = :parent AND status <> 'deleting'
  AND source_key IN (SELECT value FROM json_each(:keys))

-- name: mark_seen
UPDATE items SET seen = :generation
WHERE id IN (SELECT value FROM json_each(:ids)) AND status <> 'deleting'

-- name: unseen_children
-- Children the finished listing of this generation did not meet.
SELECT id FROM items
WHERE parent_id = :parent AND status <> 'deleting' AND (seen IS NULL OR seen < :generation)
ORDER BY id LIMIT :limit

-- name: unseen_count
SELECT count(*) FROM items
WHERE parent_id = :parent AND status <> 'deleting' AND (seen IS NULL OR seen < :generation)

-- name: jobless_below
-- A container whose expansion has ended is active through what is inside it: that decides for it.
WITH RECURSIVE inside (id) AS (
  SELECT :root
  UNION
  SELECT items.id FROM items JOIN inside ON items.parent_id = inside.id)
SELECT items.id FROM inside JOIN items ON items.id = inside.id
WHERE items.id <> :root AND items.status IN ('preparing', 'processing', 'reading', 'embedding')
  AND (items.container = 0 OR items.own_outcome IS NULL)
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.item_id = items.id
    AND jobs.state IN ('ready', 'later', 'parked', 'running'))

-- name: delete_rows
-- Leaf first: rows of the subtree nothing living stands below, at most :limit of them.
DELETE FROM items WHERE id IN (
  WITH RECURSIVE inside (id) AS (
    SELECT value FROM json_each(:roots)
    UNION
    SELECT items.id FROM items JOIN inside ON items.parent_id = inside.id)
  SELECT items.id FROM inside CROSS JOIN items ON items.id = inside.id
  WHERE items.status = 'deleting'
    AND NOT EXISTS (SELECT 1 FROM items AS child WHERE child.parent_id = items.id)
  LIMIT :limit)
RETURNING id, parent_id

-- name: delete_base_rows
-- Leaf first, for a whole base.
DELETE FROM items WHERE id IN (
  SELECT id FROM items WHERE base_id = :base
    AND NOT EXISTS (SELECT 1 FROM items AS child WHERE child.parent_id = items.id)
  LIMIT :limit)
RETURNING id

-- name: detach_files
-- References of the whole expanded subtree, before its rows: nothing else could find them.
DELETE FROM file_refs WHERE source_type = 'item' AND source_id IN (
  WITH RECURSIVE inside (id) AS (
    SELECT value FROM json_each(:roots)
    UNION
    SELECT items.id FROM items JOIN inside ON items.parent_id = inside.id)
  SELECT inside.id FROM inside CROSS JOIN items ON items.id = inside.id WHERE items.status = 'deleting')

-- name: detach_items
-- References of rows that are gone in this transaction: a slice costs what it holds, not the base.
DELETE FROM file_refs WHERE source_type = 'item'
  AND source_id IN (SELECT value FROM json_each(:ids))

-- name: detach_role
DELETE FROM file_refs WHERE source_type = 'item' AND source_id = :item AND role = :role
  AND entry_id IS NOT :keep

-- name: detach_dangling
-- References to items that are not there: leftovers of a fault.
DELETE FROM file_refs WHERE source_type = 'item'
  AND NOT EXISTS (SELECT 1 FROM items WHERE items.id = file_refs.source_id)

-- name: insert_entry
INSERT INTO file_entries (id, sha256, size, created_at) VALUES (:id, :sha256, :size, :now)

-- name: insert_ref
INSERT INTO file_refs (entry_id, source_type, source_id, role)
VALUES (:entry, 'item', :item, :role) ON CONFLICT DO NOTHING

-- name: drop_free_entries
-- Entries nobody refers to; their bytes are unlinked after this is on disk.
DELETE FROM file_entries
WHERE NOT EXISTS (SELECT 1 FROM file_refs WHERE file_refs.entry_id = file_entries.id)
RETURNING id, sha256, size

-- name: entries_of
SELECT file_entries.id, file_entries.sha256, file_entries.size
FROM file_refs JOIN file_entries ON file_entries.id = file_refs.entry_id
WHERE file_refs.source_id = :item AND file_refs.role = :role

-- name: known_entries
SELECT id FROM file_entries WHERE id IN (SELECT value FROM json_each(:ids))

-- name: item_columns
-- The columns of an item in the order catalog_rows.py reads them; stands where /*item*/ does.
id, base_id, parent_id, source_key, type, name, source, data, attributes, status, error_code,
error, error_advice, warning, generation, published_build, published_generation, recipe,
own_outcome, seen, size, workload, chunk_count, progress, skipped, indexed_at, heartbeat_at,
created_at, updated_at,
iif(EXISTS (SELECT 1 FROM job_roots JOIN jobs ON jobs.id = job_roots.job_id
      WHERE job_roots.item_id = items.id AND jobs.kind = 'reindex-subtree'
        AND jobs.state IN ('ready', 'later', 'parked', 'running')), 'reindex', NULL)
