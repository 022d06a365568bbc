-- Jobs: enqueue, the fair claim, the end of a run, recovery. Only this file writes jobs.state.

-- name: job_columns
-- The columns of a job in the order queue.py reads them; stands where /*job*/ does.
id, kind, lane, base_id, item_id, key, state, ordinal, large, run_at, reason, attempt, deaths,
verdict, claim, generation, workload, input, error_code, error, error_advice, created_at, updated_at

-- name: live_job
-- A second enqueue with a live key joins the first.
SELECT id FROM jobs WHERE key = :key AND state IN ('ready', 'later', 'parked', 'running')

-- name: insert_jobs
-- One statement for a whole call; a live key is left as it is.
INSERT INTO jobs (kind, lane, base_id, item_id, key, state, ordinal, large, run_at, generation,
  workload, input, created_at, updated_at)
SELECT value ->> 'kind', value ->> 'lane', value ->> 'base_id', value ->> 'item_id',
  value ->> 'key', iif(value ->> 'run_at' IS NULL, 'ready', 'later'),
  coalesce(value ->> 'ordinal', :first + key), value ->> 'large', value ->> 'run_at',
  value ->> 'generation', value ->> 'workload', value -> 'input', :now, :now
FROM json_each(:jobs) WHERE true
ON CONFLICT (key) WHERE state IN ('ready', 'later', 'parked', 'running') DO NOTHING

-- name: next_ordinal
-- The end of the queue: above every place ever given.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'jobs'), 0) + 1

-- name: insert_roots
-- Which items a job of several roots is about.
INSERT INTO job_roots (job_id, item_id) SELECT :job, value FROM json_each(:roots) WHERE true
ON CONFLICT DO NOTHING

-- name: unfinished
SELECT count(*) FROM jobs WHERE state IN ('ready', 'later', 'parked', 'running')

-- name: leaves_queued
-- Jobs that end by themselves, whatever waits in the other lanes: what expansions wait for.
-- One question per state, because each state has an index that begins with what is asked.
SELECT sum(n), sum(own) FROM (
  SELECT count(*) AS n, sum(base_id = :base) AS own FROM jobs
  WHERE state = 'ready' AND lane IN ('index', 'poll')
  UNION ALL
  SELECT count(*), sum(base_id = :base) FROM jobs
  WHERE state = 'later' AND lane IN ('index', 'poll')
  UNION ALL
  SELECT count(*), sum(base_id = :base) FROM jobs
  WHERE state = 'running' AND lane IN ('index', 'poll')
  UNION ALL
  SELECT count(*), 0 FROM jobs INDEXED BY jobs_parked
  WHERE state = 'parked' AND lane IN ('index', 'poll'))

-- name: job
SELECT /*job*/ FROM jobs WHERE id = :id

-- name: jobs_of_item
SELECT /*job*/ FROM jobs
WHERE item_id = :item AND state IN ('ready', 'later', 'parked', 'running') ORDER BY id

-- name: live_jobs_of_roots
-- Unfinished jobs that have one of these items among their roots.
SELECT DISTINCT jobs.id, job_roots.item_id FROM job_roots JOIN jobs ON jobs.id = job_roots.job_id
WHERE job_roots.item_id IN (SELECT value FROM json_each(:items)) AND jobs.kind = :kind
  AND jobs.state IN ('ready', 'later', 'parked', 'running')

-- name: live_claims
-- The numbers whose runs may still be writing, or whose job will be run again: a run that was killed
-- or put off has vectors in the index that the next one must not pay for again.
SELECT claim FROM jobs
WHERE claim IS NOT NULL AND jobs.state IN ('ready', 'later', 'parked', 'running')
UNION
SELECT former.value FROM jobs CROSS JOIN json_each(jobs.former) AS former
WHERE jobs.claim IS NOT NULL AND jobs.state IN ('ready', 'later', 'parked', 'running')

-- name: running_claims
-- The numbers whose runs may still be reading.
SELECT claim FROM jobs WHERE state = 'running'

-- name: cancel_waiting_of_items
-- Their work is no longer wanted; the places they held are given to what replaces them.
UPDATE jobs SET state = 'cancelled', reason = :reason, updated_at = :now
WHERE item_id IN (SELECT value FROM json_each(:items)) AND state IN ('ready', 'later', 'parked')
  AND jobs.state IN ('ready', 'later', 'parked', 'running')
RETURNING item_id, ordinal

-- name: cancel_running_of_items
-- A run looks at its token before every model call and batch; fences carry correctness.
UPDATE jobs SET cancel_requested = 1, reason = :reason
WHERE item_id IN (SELECT value FROM json_each(:items)) AND state = 'running'
  AND jobs.state IN ('ready', 'later', 'parked', 'running')
RETURNING id, item_id, ordinal

-- name: cancel_waiting_of_base
UPDATE jobs SET state = 'cancelled', reason = 'base deleted', updated_at = :now
WHERE base_id = :base AND kind <> 'delete-base' AND state IN ('ready', 'later', 'parked')
  AND jobs.state IN ('ready', 'later', 'parked', 'running')

-- name: cancel_running_of_base
UPDATE jobs SET cancel_requested = 1, reason = 'base deleted'
WHERE base_id = :base AND kind <> 'delete-base' AND state = 'running'
  AND jobs.state IN ('ready', 'later', 'parked', 'running')
RETURNING id

-- name: running_of_base
SELECT count(*) FROM jobs WHERE base_id = :base AND kind <> 'delete-base' AND state = 'running'
  AND jobs.state IN ('ready', 'later', 'parked', 'running')

-- name: anything_due
-- Is there anything a slot could take, or a delayed job whose time has come?
SELECT EXISTS (SELECT 1 FROM jobs WHERE lane = :lane AND state = 'ready')
  OR EXISTS (SELECT 1 FROM jobs WHERE lane = :lane AND state = 'later' AND run_at <= :now)
  OR EXISTS (SELECT 1 FROM jobs WHERE lane = :lane AND state = 'later' AND run_at > :latest)

-- name: wake_due
-- Delayed jobs whose time has come, in slices. Nothing is ever delayed beyond `latest`: what is
-- was delayed before the clock was set back, and would wait for all the hours it was set back by.
UPDATE jobs SET state = 'ready', run_at = NULL, updated_at = :now
WHERE id IN (
  SELECT id FROM (SELECT id FROM jobs WHERE lane = :lane AND state = 'later' AND run_at <= :now
                  ORDER BY run_at LIMIT 1000)
  UNION ALL
  SELECT id FROM (SELECT id FROM jobs WHERE lane = :lane AND state = 'later' AND run_at > :latest
                  ORDER BY run_at LIMIT 1000))

-- name: wake_first_busy
-- A place is free: the first that waits for this processor need not wait for its time.
UPDATE jobs SET state = 'ready', run_at = NULL, reason = NULL, updated_at = :now
WHERE id IN (SELECT id FROM jobs WHERE lane = 'poll' AND state = 'later'
    AND reason = 'processor_busy' AND input ->> 'processor' = :processor
  ORDER BY ordinal LIMIT 1)

-- name: next_due
SELECT min(run_at) FROM jobs WHERE lane = :lane AND state = 'later'

-- name: running
-- Counted, never added up: a slot cannot leak. What was claimed together shares one.
SELECT base_id, max(large), max(deaths) FROM jobs WHERE lane = :lane AND state = 'running'
GROUP BY slot

-- name: solo
-- A job that killed its worker three times runs once more, with nothing beside it. The index is
-- named: from the base's side the planner would look at every ready job, on every claim.
SELECT /*job*/ FROM jobs INDEXED BY jobs_solo
WHERE lane = :lane AND lane <> 'urgent' AND state = 'ready' AND deaths >= 3
  AND EXISTS (SELECT 1 FROM bases
    WHERE bases.id = jobs.base_id AND paused = 0 AND bases.status = 'completed'
    AND NOT EXISTS (SELECT 1 FROM providers AS p WHERE p.name = bases.provider
      AND p.paused_until IS NOT NULL AND (p.paused_until > :now AND p.paused_until <= :longest
        OR p.failures > 0 AND :lane = 'index' AND EXISTS (SELECT 1 FROM jobs AS probe
          WHERE probe.lane = 'index' AND probe.state = 'running' AND probe.slot = p.probe))))
ORDER BY ordinal LIMIT 1

-- name: lane_cursor
SELECT base_id FROM lane_cursor WHERE lane = :lane

-- name: set_lane_cursor
INSERT INTO lane_cursor (lane, base_id) VALUES (:lane, :base)
ON CONFLICT (lane) DO UPDATE SET base_id = excluded.base_id

-- name: waiting_bases
-- Bases with ready jobs after one and up to another, in the ring's order; skips from base to base
-- in the index, so the cost grows with bases and not with jobs. When no large job may start, bases
-- that have nothing else are no candidates: a row of them would hide whoever stands behind. A
-- delete-base outlives its base's row when its last step is tried again: the urgent lane asks for
-- no row. A provider that was down is asked by one run first: while that one is at it, the others
-- of its bases wait.
WITH RECURSIVE ring (base_id) AS (
  SELECT min(base_id) FROM jobs
  WHERE lane = :lane AND state = 'ready' AND base_id > :after AND base_id <= :upto
  UNION ALL
  SELECT (SELECT min(base_id) FROM jobs
          WHERE lane = :lane AND state = 'ready'
            AND jobs.base_id > ring.base_id AND jobs.base_id <= :upto)
  FROM ring WHERE ring.base_id IS NOT NULL)
SELECT ring.base_id FROM ring LEFT JOIN bases ON bases.id = ring.base_id
WHERE ring.base_id IS NOT NULL AND (NOT :guarded OR (bases.paused = 0
  AND bases.status = 'completed'
  AND NOT EXISTS (SELECT 1 FROM providers AS p WHERE p.name = bases.provider
    AND p.paused_until IS NOT NULL AND (p.paused_until > :now AND p.paused_until <= :longest
      OR p.failures > 0 AND :lane = 'index' AND EXISTS (SELECT 1 FROM jobs AS probe
        WHERE probe.lane = 'index' AND probe.state = 'running' AND probe.slot = p.probe)))))
  AND (:large OR EXISTS (SELECT 1 FROM jobs
    WHERE lane = :lane AND state = 'ready' AND jobs.base_id = ring.base_id AND large = 0))
LIMIT :limit

-- name: heads
-- The first ready jobs of a base whose items are not at work already.
SELECT /*job*/ FROM jobs
WHERE lane = :lane AND state = 'ready' AND base_id = :base AND large = :large
  AND (deaths < 3 OR lane = 'urgent')
  AND (item_id IS NULL OR NOT EXISTS
    (SELECT 1 FROM jobs AS other WHERE other.item_id = jobs.item_id AND other.state = 'running'
       AND other.state IN ('ready', 'later', 'parked', 'running')))
ORDER BY ordinal LIMIT :limit

-- name: take_claims
-- Numbers nobody had before and nobody will have again.
UPDATE engine SET last_claim = last_claim + :count WHERE one = 1 RETURNING last_claim - :count + 1

-- name: claim_jobs
UPDATE jobs
SET state = 'running', claim = :first + asked.rank, slot = :first, owner = :owner,
  former = CASE
    WHEN claim IS NULL THEN NULL
    WHEN json_array_length(former) >= 4 THEN json_insert(json_remove(former, '$[0]'), '$[#]', claim)
    ELSE json_insert(coalesce(former, '[]'), '$[#]', claim) END,
  lease_until = :lease, cancel_requested = 0, reason = NULL, updated_at = :now
FROM (SELECT key AS rank, value AS id FROM json_each(:ids)) AS asked
WHERE jobs.id = asked.id AND jobs.state = 'ready'
RETURNING /*job*/

-- name: start_job
-- A posted claim is taken by the first who comes; duplicates and late messages find no row.
UPDATE jobs SET owner = :owner, lease_until = :lease, updated_at = :now
WHERE id = :id AND claim = :claim AND state = 'running' AND owner IS NULL
RETURNING /*job*/

-- name: finish_jobs
-- The end of a run, by the run that has it.
UPDATE jobs SET state = :state, reason = :reason, lease_until = NULL, updated_at = :now,
  error_code = :code, error = :error, error_advice = :advice
FROM (SELECT value ->> 0 AS id, value ->> 1 AS claim FROM json_each(:fences)) AS asked
WHERE jobs.id = asked.id AND jobs.claim = asked.claim AND jobs.state = 'running'
RETURNING jobs.id

-- name: give_back
-- The slot is given back; stored batches stay, an attempt is counted or not.
UPDATE jobs SET state = iif(:run_at IS NULL, 'ready', 'later'), run_at = :run_at, reason = :reason,
  attempt = attempt + :counts, deaths = 0, lease_until = NULL, updated_at = :now,
  error_code = :code, error = :error, error_advice = :advice
WHERE id = :id AND claim = :claim AND state = 'running' AND cancel_requested = 0

-- name: condemn
-- Nothing more to try: the job is handed out once more, to be failed by its handler.
UPDATE jobs SET state = 'ready', verdict = 'give_up', lease_until = NULL, updated_at = :now,
  error_code = :code, error = :error, error_advice = :advice
WHERE id = :id AND claim = :claim AND state = 'running' AND cancel_requested = 0

-- name: end_cancelled
-- A run that was told to stop and did not reach its own end.
UPDATE jobs SET state = 'cancelled', lease_until = NULL, updated_at = :now
WHERE id = :id AND claim = :claim AND state = 'running' AND cancel_requested = 1

-- name: keep_place
-- How far a long run has come; the next run of the job goes on there, and its tries begin anew.
UPDATE jobs SET input = json_set(input, '$.place', json(:place)), attempt = 0, updated_at = :now
WHERE id = :id AND claim = :claim AND state = 'running'

-- name: beat
-- A stored page or batch proves the worker lives and the item does not kill it.
UPDATE jobs SET deaths = 0, lease_until = :lease, updated_at = :now
WHERE id = :id AND claim = :claim AND state = 'running'

-- name: renew_leases
UPDATE jobs SET lease_until = :lease WHERE owner = :owner AND state = 'running'

-- name: rescue_foreign
-- Rows of an owner that is gone (the folder lock proves it) are free at once. One that was
-- cancelled meanwhile stays cancelled; one never started does not count a death.
UPDATE jobs SET state = iif(cancel_requested, 'cancelled', 'ready'),
  deaths = deaths + (owner IS NOT NULL), owner = NULL, lease_until = NULL, updated_at = :now
WHERE state = 'running' AND (owner IS NULL OR owner <> :owner)
RETURNING id, base_id, item_id

-- name: rescue_expired
-- A lease that ran out: its run is fenced by the next claim's number.
UPDATE jobs SET state = iif(cancel_requested, 'cancelled', 'ready'),
  deaths = deaths + (owner IS NOT NULL), owner = NULL, lease_until = NULL, updated_at = :now
WHERE state = 'running' AND lease_until < :now
RETURNING id, base_id, item_id

-- name: rescue_stuck
-- Runs without a sign of life for too long; who they are is told by monotonic time.
UPDATE jobs SET state = iif(cancel_requested, 'cancelled', 'ready'), deaths = deaths + 1,
  owner = NULL, lease_until = NULL, updated_at = :now
FROM (SELECT value ->> 0 AS id, value ->> 1 AS claim FROM json_each(:fences)) AS asked
WHERE jobs.id = asked.id AND jobs.claim = asked.claim AND jobs.state = 'running'
RETURNING jobs.id, jobs.base_id, jobs.item_id

-- name: give_up_dead
-- Killed its worker, ran alone and killed it again.
UPDATE jobs SET verdict = 'give_up', deaths = 0, error_code = 'killed_worker',
  error = 'the worker died ' || deaths || ' times while this item was at work',
  error_advice = :advice
WHERE lane = :lane AND lane <> 'urgent' AND state = 'ready' AND deaths >= 3 AND deaths > 3
  AND verdict = 'run'

-- name: park
-- recovery: ask. Deletes never park.
UPDATE jobs SET state = 'parked', updated_at = :now
WHERE lane IN ('index', 'control', 'poll') AND state IN ('ready', 'later')
  AND jobs.state IN ('ready', 'later', 'parked', 'running')
  AND base_id IN (SELECT id FROM bases WHERE recovery = 'ask' AND status <> 'deleting')
RETURNING id

-- name: unpark
UPDATE jobs SET state = 'ready', run_at = NULL, attempt = 0, deaths = 0, updated_at = :now
WHERE base_id = :base AND state = 'parked'
  AND (:items IS NULL OR item_id IN (SELECT value FROM json_each(:items)))
RETURNING item_id

-- name: end_parked
UPDATE jobs SET state = 'cancelled', reason = 'dismissed', updated_at = :now
WHERE base_id = :base AND state = 'parked'
  AND (:items IS NULL OR item_id IN (SELECT value FROM json_each(:items)))
RETURNING item_id

-- name: orphans
-- Active items whose job is parked, or that by a fault have none.
SELECT items.id FROM items
WHERE items.base_id = :base AND items.status IN ('preparing', 'processing', 'reading', 'embedding')
  AND (items.container = 0 OR items.own_outcome IS NULL)
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.item_id = items.id
    AND jobs.state IN ('ready', 'later', 'parked', 'running') AND jobs.state <> 'parked')
ORDER BY items.id LIMIT :limit

-- name: jobless
-- Active items without any unfinished job; what the sweep schedules anew.
SELECT items.id FROM items JOIN bases ON bases.id = items.base_id
WHERE items.status IN ('preparing', 'processing', 'reading', 'embedding')
  AND (items.container = 0 OR items.own_outcome IS NULL)
  AND bases.status = 'completed' AND bases.recovery = 'resume'
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.item_id = items.id
    AND jobs.state IN ('ready', 'later', 'parked', 'running'))
LIMIT :limit

-- name: deleting_roots_alone
-- Deleting items whose parent is not deleting and that no unfinished delete job has as a root.
SELECT items.base_id, items.id
FROM items INDEXED BY items_deleting JOIN bases ON bases.id = items.base_id
WHERE items.status = 'deleting' AND bases.status <> 'deleting'
  AND NOT EXISTS (SELECT 1 FROM items AS up WHERE up.id = items.parent_id AND up.status = 'deleting')
  AND NOT EXISTS (SELECT 1 FROM job_roots JOIN jobs ON jobs.id = job_roots.job_id
    WHERE job_roots.item_id = items.id AND jobs.kind = 'delete-subtree'
      AND jobs.state IN ('ready', 'later', 'parked', 'running'))
ORDER BY items.base_id, items.id LIMIT :limit

-- name: deleting_bases_alone
SELECT id FROM bases WHERE status = 'deleting' AND NOT EXISTS
  (SELECT 1 FROM jobs WHERE jobs.base_id = bases.id AND kind = 'delete-base'
     AND jobs.state IN ('ready', 'later', 'parked', 'running'))

-- name: prune_jobs
-- Old ones, but never the newest of a kind: the first to go is the one right behind those.
DELETE FROM jobs WHERE id IN (
  SELECT id FROM jobs WHERE kind = :kind AND state IN ('done', 'failed', 'cancelled')
    AND updated_at < :before
    AND id <= coalesce((SELECT id FROM jobs WHERE kind = :kind
      AND state IN ('done', 'failed', 'cancelled') ORDER BY id DESC LIMIT 1 OFFSET :newest), 0)
  LIMIT 1000)

-- name: epoch
-- How often the store was opened by an owner: the thousands of millions of every claim number.
SELECT epoch FROM engine

-- name: raise_epoch
-- A new owner: claim numbers above every one given before, whatever was lost with the power.
UPDATE engine SET epoch = max(epoch, :above / 1000000000) + 1,
  last_claim = (max(epoch, :above / 1000000000) + 1) * 1000000000, owner = :owner, clean_stop = 0
WHERE one = 1 RETURNING epoch

-- name: mark_clean_stop
UPDATE engine SET clean_stop = 1 WHERE one = 1 AND owner = :owner

-- name: stopped_clean
SELECT clean_stop FROM engine

-- name: touch
-- The small transaction that carries everything before it to the disk.
UPDATE engine SET synced = synced + 1 WHERE one = 1

-- name: queue_of_base
-- What the queue of a base looks like: waiting, running, deleting.
SELECT (SELECT count(*) FROM jobs WHERE base_id = :base AND state <> 'running'
          AND jobs.state IN ('ready', 'later', 'parked', 'running')),
       (SELECT count(*) FROM jobs WHERE base_id = :base AND state = 'running'
          AND jobs.state IN ('ready', 'later', 'parked', 'running')),
       (SELECT count(*) FROM items WHERE base_id = :base AND status = 'deleting')

-- name: queue_by_base
SELECT base_id, sum(state <> 'running'), sum(state = 'running') FROM jobs
WHERE jobs.state IN ('ready', 'later', 'parked', 'running') GROUP BY base_id ORDER BY base_id

-- name: active_items
SELECT id FROM items WHERE base_id = :base
  AND status IN ('preparing', 'processing', 'reading', 'embedding') ORDER BY id LIMIT :limit

-- name: active_count
SELECT count(*) FROM items WHERE base_id = :base
  AND status IN ('preparing', 'processing', 'reading', 'embedding')

-- name: jobs_before
-- How many ready jobs of the same base and lane stand before this one.
SELECT count(*) FROM jobs WHERE lane = :lane AND state = 'ready' AND base_id = :base
  AND ordinal < :ordinal

-- name: pause_provider
-- Nobody asks this provider before then; the claim passes its bases over. What failed has to be
-- looked at by one probe afterwards; who probed has ended.
INSERT INTO providers (name, paused_until, reason, failures)
VALUES (:name, :until, :reason, :failed)
ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, failures = failures + :failed,
  probe = iif(:failed, NULL, probe),
  paused_until = iif(paused_until > :until AND paused_until <= :longest, paused_until, :until)

-- name: become_probe
-- The first slot that gets work of a provider that was down looks for all others.
UPDATE providers SET probe = :slot
WHERE failures > 0 AND name = (SELECT provider FROM bases WHERE id = :base)

-- name: take_probe
-- The same for a run that was at work already; no row when another one looks.
UPDATE providers SET probe = mine.slot
FROM (SELECT slot FROM jobs WHERE lane = 'index' AND claim = :claim AND state = 'running') AS mine
WHERE providers.name = :name AND failures > 0 AND (probe IS NULL OR probe = mine.slot
  OR NOT EXISTS (SELECT 1 FROM jobs AS other
    WHERE other.lane = 'index' AND other.state = 'running' AND other.slot = providers.probe))

-- name: open_provider
UPDATE providers SET paused_until = NULL, reason = NULL, failures = 0, probe = NULL
WHERE name = :name AND (paused_until IS NOT NULL OR failures > 0)

-- name: wake_provider
-- Who waited for it waits no longer.
UPDATE jobs SET state = 'ready', run_at = NULL, updated_at = :now
WHERE lane = 'index' AND state = 'later' AND reason = 'provider'
  AND base_id IN (SELECT id FROM bases WHERE provider = :name)

-- name: next_opening
SELECT min(paused_until) FROM providers WHERE paused_until > :now AND paused_until <= :longest

-- name: providers
-- With the first item of the slot that looks whether it is back.
SELECT name, paused_until, reason, texts_embedded, texts_reused, model_calls, tokens, failures,
  (SELECT item_id FROM jobs WHERE lane = 'index' AND state = 'running' AND slot = providers.probe
   ORDER BY claim LIMIT 1)
FROM providers ORDER BY name

-- name: count_texts
INSERT INTO providers (name, texts_embedded, texts_reused, model_calls, tokens)
VALUES (:name, :embedded, :reused, :calls, :tokens)
ON CONFLICT (name) DO UPDATE SET texts_embedded = texts_embedded + excluded.texts_embedded,
  texts_reused = texts_reused + excluded.texts_reused,
  model_calls = model_calls + excluded.model_calls, tokens = tokens + excluded.tokens

-- name: fingerprint
-- What the fixed text was answered with when this base was first embedded.
SELECT vector FROM fingerprints WHERE base_id = :base AND space = :space

-- name: keep_fingerprint
INSERT INTO fingerprints (base_id, space, vector)
SELECT :base, :space, :vector WHERE EXISTS (SELECT 1 FROM bases WHERE id = :base)
ON CONFLICT DO NOTHING

-- name: work_coming
-- Work that will be done without a person: jobs of paused and failed bases wait for one.
SELECT EXISTS (SELECT 1 FROM jobs LEFT JOIN bases ON bases.id = jobs.base_id
  WHERE jobs.state IN ('ready', 'later', 'parked', 'running') AND jobs.state <> 'parked'
    AND (jobs.lane NOT IN ('index', 'control') OR (bases.paused = 0 AND bases.status = 'completed')))
