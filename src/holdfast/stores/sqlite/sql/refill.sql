-- How a connection comes to hold what an image holds, row by row: its prepared statements stay.

-- name: tables
-- In the order they were made: what is referred to comes before what refers to it.
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%'
ORDER BY name = 'sqlite_sequence', rowid

-- name: columns
SELECT name FROM pragma_table_info(:name)

-- name: all_rows
SELECT * FROM /*table*/

-- name: empty
DELETE FROM /*table*/

-- name: fill
INSERT INTO /*table*/ VALUES (/*places*/)

-- name: no_parents
-- A row may not go before the rows that name it.
UPDATE items SET parent_id = NULL WHERE parent_id IS NOT NULL

-- name: given_parent
UPDATE items SET parent_id = :value WHERE id = :id

-- name: given_status
-- Set last: nothing may be inserted into a base that is being deleted.
UPDATE bases SET status = :value WHERE id = :id AND status <> :value

-- name: nothing_seen
DELETE FROM seen_broken
