-- Files that processors made, and the conversions that are under way.

CREATE TABLE processed_files (
  entry_id TEXT PRIMARY KEY REFERENCES file_entries (id) ON DELETE CASCADE,
  source_sha256 TEXT NOT NULL,
  source_size INTEGER NOT NULL,
  processor TEXT NOT NULL,
  manner TEXT NOT NULL,
  warning TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX processed_files_source ON processed_files (source_sha256, processor, manner);

CREATE TABLE remote_jobs (
  item_id TEXT PRIMARY KEY,
  base_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  processor TEXT NOT NULL,
  remote_id TEXT,
  made TEXT,
  report TEXT,
  submissions INTEGER NOT NULL,
  looked_at INTEGER NOT NULL,
  quiet REAL NOT NULL,
  waited REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX remote_jobs_of_processor ON remote_jobs (processor);
CREATE INDEX remote_jobs_of_base ON remote_jobs (base_id);
