-- What the main store knows of itself.

-- name: note_main_removal
-- Deleted text may stand in the log from here on.
UPDATE engine SET purge = 1 WHERE purge = 0

-- name: note_main_purged
-- Nobody else writes between the emptied log and this.
UPDATE engine SET purge = 0 WHERE purge = 1

-- name: main_purge_due
SELECT purge FROM engine
