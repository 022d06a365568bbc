-- What happened, and what was answered. Status changes are written by triggers.

-- name: record
INSERT INTO item_events (at, kind, base_id, item_id, generation, detail)
SELECT :now, value ->> 'kind', value ->> 'base_id', value ->> 'item_id', value ->> 'generation',
  value -> 'detail'
FROM json_each(:events)

-- name: events_after
SELECT id, at, kind, base_id, item_id, status, generation, detail FROM item_events
WHERE id > :after AND (:base IS NULL OR base_id = :base) ORDER BY id LIMIT :limit

-- name: newest_event
SELECT coalesce(max(id), 0) FROM item_events

-- name: oldest_event
SELECT coalesce(min(id), 0) FROM item_events

-- name: history
SELECT id, at, kind, base_id, item_id, status, generation, detail FROM item_events
WHERE item_id = :item ORDER BY id

-- name: prune_events_by_age
-- Looks at the oldest only: with a million events and none too old it would read them all.
DELETE FROM item_events WHERE id IN
  (SELECT id FROM (SELECT id, at FROM item_events ORDER BY id LIMIT 5000) WHERE at < :before)

-- name: prune_events_by_count
DELETE FROM item_events WHERE id <= (SELECT max(id) FROM item_events) - :most

-- name: prune_events_of_item
-- The newest of each item that has had many and of which one is recent.
DELETE FROM item_events WHERE id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY item_id ORDER BY id DESC) AS place
    FROM item_events WHERE item_id IN (
      SELECT item_id FROM (SELECT DISTINCT item_id FROM
        (SELECT item_id FROM item_events ORDER BY id DESC LIMIT 10000)) AS recent
      WHERE (SELECT count(*) FROM item_events WHERE item_id = recent.item_id) > :most LIMIT 100))
  WHERE place > :most)

-- name: answer
SELECT body, answer FROM answers WHERE key = :key AND principal = :principal AND at >= :after

-- name: remember
INSERT INTO answers (key, principal, body, answer, at)
VALUES (:key, :principal, :body, :answer, :now)
ON CONFLICT (key, principal) DO UPDATE
SET body = excluded.body, answer = excluded.answer, at = excluded.at

-- name: forget_answers
DELETE FROM answers WHERE at < :before
