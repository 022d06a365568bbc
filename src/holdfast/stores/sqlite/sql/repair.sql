-- What a check-up may set right in the main store; every other writer keeps it right by itself.

-- name: parts_of_the_store
-- Indexes and triggers with the statements that make them.
SELECT name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL

-- name: main_integrity
-- Every page, and every index against its table.
SELECT integrity_check FROM pragma_integrity_check

-- name: renew_indexes
-- An index that disagrees with its table is made again from it.
REINDEX

-- name: free_of_parents
-- What hangs below something that is not there, or of another base, stands by itself.
UPDATE items SET parent_id = NULL WHERE parent_id IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM items AS up WHERE up.id = items.parent_id AND up.base_id = items.base_id)

-- name: drop_baseless
-- Nobody can reach what has no base.
DELETE FROM items WHERE NOT EXISTS (SELECT 1 FROM bases WHERE bases.id = items.base_id)

-- name: calm_jobs
-- Counters past their limits go back to them: the next failure ends the job.
UPDATE jobs SET attempt = min(attempt, 3), deaths = min(deaths, 5)
WHERE state IN ('ready', 'later', 'parked', 'running') AND (attempt > 3 OR deaths > 5)

-- name: rehome_jobs
-- A job is of its item's base.
UPDATE jobs SET base_id = (SELECT base_id FROM items WHERE items.id = jobs.item_id)
WHERE EXISTS (SELECT 1 FROM items WHERE items.id = jobs.item_id AND items.base_id <> jobs.base_id)

-- name: complete_failure
-- A failure says what and what to do.
UPDATE items SET error = coalesce(nullif(error, ''), :error),
  error_advice = coalesce(nullif(error_advice, ''), :advice)
WHERE id = :id AND status = 'failed'

-- name: stored_entries
-- Everything that was stored and not let go.
SELECT id, sha256, size FROM file_entries ORDER BY id
