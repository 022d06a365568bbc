-- How connections are set up, and how many rows become one.

-- name: as_writer
-- The reader pool sees a stable snapshot beside it; only this connection checkpoints.
PRAGMA journal_mode = WAL;
PRAGMA busy_timeout = 5000;
PRAGMA foreign_keys = ON;
PRAGMA recursive_triggers = ON;
PRAGMA secure_delete = ON;
PRAGMA journal_size_limit = 16777216;
PRAGMA wal_autocheckpoint = 2000;
PRAGMA cache_size = -16384

-- name: as_reader
-- Never writes, never checkpoints.
PRAGMA busy_timeout = 5000;
PRAGMA query_only = ON;
PRAGMA cache_size = -8192

-- name: sync_full
-- A commit waits for the disk.
PRAGMA synchronous = FULL

-- name: sync_normal
-- A commit survives the process; only a checkpoint or a FULL commit survives the power.
PRAGMA synchronous = NORMAL

-- name: empty_the_log
-- The write-ahead log is copied into the file and cut to nothing.
PRAGMA wal_checkpoint(TRUNCATE)

-- name: as_one_row
-- The driver gives the interpreter's lock away at every row: one row, one turn.
WITH answer(/*columns*/) AS (/*select*/)
SELECT json_group_array(json_array(/*columns*/)) FROM answer
