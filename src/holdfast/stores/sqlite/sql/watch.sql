-- Temporary triggers that write down forbidden transitions, whatever the triggers of the schema do.

-- name: watch
CREATE TEMP TABLE IF NOT EXISTS seen_broken (what TEXT NOT NULL);
CREATE TEMP TRIGGER IF NOT EXISTS watch_t1 AFTER UPDATE OF status ON main.items
WHEN old.status = 'deleting' AND new.status <> 'deleting'
BEGIN INSERT INTO seen_broken VALUES ('T1 ' || new.id || ' left deleting'); END;
CREATE TEMP TRIGGER IF NOT EXISTS watch_t2 AFTER INSERT ON main.items
WHEN new.parent_id IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM main.items AS up WHERE up.id = new.parent_id AND up.status <> 'deleting')
BEGIN INSERT INTO seen_broken VALUES ('T2 ' || new.id || ' was born under deleting'); END;
CREATE TEMP TRIGGER IF NOT EXISTS watch_t3 AFTER UPDATE ON main.items
WHEN new.generation < old.generation OR new.published_generation < old.published_generation
BEGIN INSERT INTO seen_broken VALUES ('T3 ' || new.id || ' went back'); END;
CREATE TEMP TRIGGER IF NOT EXISTS watch_t3_jobs AFTER UPDATE OF claim ON main.jobs
WHEN new.claim <= old.claim
BEGIN INSERT INTO seen_broken VALUES ('T3 job ' || new.id || ' has a claim twice'); END;
CREATE TEMP TRIGGER IF NOT EXISTS watch_t4 AFTER UPDATE OF status ON main.items
WHEN old.status = 'completed' AND old.container = 0 AND new.generation = old.generation
  AND new.status NOT IN ('completed', 'deleting')
BEGIN INSERT INTO seen_broken VALUES ('T4 ' || new.id || ' left completed'); END;
CREATE TEMP TRIGGER IF NOT EXISTS watch_t5 AFTER UPDATE OF progress ON main.items
WHEN new.generation = old.generation AND new.progress < old.progress
BEGIN INSERT INTO seen_broken VALUES ('T5 progress of ' || new.id || ' fell'); END;
CREATE TEMP TRIGGER IF NOT EXISTS watch_i9 AFTER UPDATE OF published_build ON main.items
WHEN new.published_build IS NOT NULL AND NOT EXISTS (SELECT 1 FROM main.jobs
  WHERE jobs.item_id = new.id AND jobs.claim = new.published_build
    AND jobs.generation = new.generation AND jobs.state = 'running')
BEGIN INSERT INTO seen_broken VALUES ('I9 ' || new.id || ' published by a foreign claim'); END;
CREATE TEMP TRIGGER IF NOT EXISTS watch_i9_back AFTER UPDATE OF published_build ON main.items
WHEN new.published_build < old.published_build
BEGIN INSERT INTO seen_broken VALUES ('I9 ' || new.id || ' answers with an older build'); END;

-- name: watched
SELECT what FROM seen_broken

-- name: answering_builds
-- What the index must hold: the builds that answer, as they were sealed.
SELECT items.base_id, items.id, published_build, chunk_count, digest
FROM items JOIN bases ON bases.id = items.base_id
WHERE published_build IS NOT NULL AND items.status <> 'deleting' AND bases.status <> 'deleting'

-- name: unrest
-- What will still happen by itself: unfinished jobs that are not parked, deletes, active items.
SELECT 'job ' || id || ' ' || kind || ' ' || state || ' ' || coalesce(reason, '') FROM jobs
WHERE state IN ('ready', 'later', 'running')
UNION ALL
SELECT id || ' ' || status FROM items
WHERE status = 'deleting' OR (status IN ('preparing', 'processing', 'reading', 'embedding')
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.item_id = items.id AND jobs.state = 'parked'))
UNION ALL
SELECT id || ' ' || status FROM bases WHERE status = 'deleting'

-- name: standing
-- Every item with what a user would be told of it.
SELECT items.id, items.status, items.error_code, items.published_build, items.digest,
  items.chunk_count, items.base_id, items.parent_id
FROM items ORDER BY items.id

-- name: conversions
-- What processors are at for us; nothing at rest.
SELECT item_id || ' ' || coalesce(remote_id, 'not submitted') FROM remote_jobs

-- name: stored_files
SELECT 'files/' || substr(sha256, 1, 2) || '/' || sha256 || '-' || id FROM file_entries

-- name: living_bases
SELECT id FROM bases WHERE status <> 'deleting' ORDER BY id

-- name: i7_jobs_have_their_base
-- Whatever belonged to a base ended with it, but for what ends the base itself.
SELECT jobs.id FROM jobs WHERE state IN ('ready', 'later', 'parked', 'running')
  AND kind <> 'delete-base' AND NOT EXISTS (SELECT 1 FROM bases WHERE bases.id = jobs.base_id)

-- name: i8_claim_given_once
SELECT 'claim ' || claim FROM jobs WHERE state = 'running' GROUP BY claim HAVING count(*) > 1

-- name: i9_claim_above_the_counter
-- Every number that was given stands below the counter, so it is never given again.
SELECT 'claim ' || max(claim) FROM jobs HAVING max(claim) > (SELECT last_claim FROM engine)

-- name: i10_completed_is_this_generation
-- A completed leaf says how many chunks it has and their digest, in the generation it is in.
SELECT id FROM items
WHERE status = 'completed' AND container = 0
  AND (digest IS NULL OR published_generation IS NOT generation OR progress <> 100)

-- name: as_named_rows
-- What one of several questions answered, with its name.
SELECT '/*name*/', * FROM (/*select*/)
