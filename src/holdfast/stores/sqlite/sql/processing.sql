-- What processors made, and what they are at. Only this file writes remote_jobs.

-- name: remote_columns
-- The columns of a conversion in the order processing.py reads them; stands where /*remote*/ does.
item_id, base_id, generation, processor, remote_id, made, report, submissions, looked_at, quiet,
waited

-- name: processed_of
-- Files made of these bytes by this processor in this manner: whoever's they are, they serve all.
SELECT source_sha256, entry_id, file_entries.sha256, size, source_size, processor, manner, warning
FROM processed_files JOIN file_entries ON file_entries.id = processed_files.entry_id
WHERE source_sha256 IN (SELECT value FROM json_each(:hashes))
  AND processor = :processor AND manner = :manner
ORDER BY entry_id

-- name: insert_processed
INSERT INTO processed_files (entry_id, source_sha256, source_size, processor, manner, warning)
VALUES (:entry, :source, :source_size, :processor, :manner, :warning)

-- name: forget_processed
-- Its bytes are gone: the next attempt has them made again.
DELETE FROM processed_files WHERE entry_id = :entry

-- name: conversions_beside
-- What else the processor has of us; a parked task waits for a person and holds no place.
SELECT count(*) FROM remote_jobs
WHERE processor = :processor AND item_id <> :item AND EXISTS (
  SELECT 1 FROM jobs WHERE jobs.item_id = remote_jobs.item_id
    AND jobs.generation = remote_jobs.generation AND kind = 'check-file-processing-result'
    AND jobs.state IN ('ready', 'later', 'running')
    AND jobs.state IN ('ready', 'later', 'parked', 'running'))

-- name: keep_remote
-- One conversion per item: a newer attempt takes the place of an older one.
INSERT INTO remote_jobs (item_id, base_id, generation, processor, remote_id, made, report,
  submissions, looked_at, quiet, waited)
VALUES (:item, :base, :generation, :processor, :remote, :made, :report, :submissions, :looked_at,
  :quiet, :waited)
ON CONFLICT (item_id) DO UPDATE SET generation = excluded.generation,
  processor = excluded.processor, remote_id = excluded.remote_id, made = excluded.made,
  report = excluded.report, submissions = excluded.submissions, looked_at = excluded.looked_at,
  quiet = excluded.quiet, waited = excluded.waited
WHERE remote_jobs.generation <= excluded.generation

-- name: forget_remote
-- This very conversion: another run of the attempt may have submitted the item anew.
DELETE FROM remote_jobs
WHERE item_id = :item AND generation = :generation AND remote_id IS :remote

-- name: remote_jobs_of
SELECT /*remote*/ FROM remote_jobs WHERE item_id IN (SELECT value FROM json_each(:items))

-- name: remote_jobs_of_base
SELECT /*remote*/ FROM remote_jobs WHERE base_id = :base

-- name: remote_jobs_alone
-- Conversions nobody asks about any more: no unfinished check of that attempt.
SELECT /*remote*/ FROM remote_jobs WHERE NOT EXISTS (
  SELECT 1 FROM jobs WHERE jobs.item_id = remote_jobs.item_id
    AND jobs.generation = remote_jobs.generation AND kind = 'check-file-processing-result'
    AND jobs.state IN ('ready', 'later', 'parked', 'running'))
LIMIT :limit
