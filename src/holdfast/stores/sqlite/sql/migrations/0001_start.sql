-- The main store: bases, items, jobs, stored files, the ledger. Times are whole microseconds.

CREATE TABLE engine (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch INTEGER NOT NULL,
  last_claim INTEGER NOT NULL,
  owner TEXT,
  clean_stop INTEGER NOT NULL,
  synced INTEGER NOT NULL
) STRICT;
INSERT INTO engine VALUES (1, 0, 0, NULL, 1, 0);

CREATE TABLE lane_cursor (
  lane TEXT PRIMARY KEY,
  base_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bases (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  settings TEXT NOT NULL,
  provider TEXT,
  status TEXT NOT NULL CHECK (status IN ('completed', 'failed', 'deleting')),
  error_code TEXT,
  space INTEGER NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0,
  recovery TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE items (
  id TEXT PRIMARY KEY,
  base_id TEXT NOT NULL REFERENCES bases (id),
  parent_id TEXT REFERENCES items (id),
  source_key TEXT NOT NULL,
  type TEXT NOT NULL,
  container INTEGER NOT NULL,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  data TEXT NOT NULL,
  attributes TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('idle', 'preparing', 'processing', 'reading', 'embedding', 'completed', 'failed', 'deleting')),
  error_code TEXT,
  error TEXT,
  error_advice TEXT,
  warning TEXT,
  generation INTEGER NOT NULL,
  published_build INTEGER,
  published_generation INTEGER,
  recipe TEXT,
  own_outcome TEXT,
  own_error TEXT,
  seen INTEGER,
  size INTEGER NOT NULL,
  workload INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL DEFAULT 0,
  digest TEXT,
  progress INTEGER NOT NULL DEFAULT 0,
  skipped TEXT,
  indexed_at INTEGER,
  heartbeat_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((status = 'failed') = (error_code IS NOT NULL)),
  CHECK (published_generation IS NULL OR published_generation <= generation)
) STRICT;

CREATE INDEX items_inside ON items (parent_id, status) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX items_source ON items (parent_id, source_key)
  WHERE parent_id IS NOT NULL AND status <> 'deleting';
CREATE INDEX items_listed ON items (base_id, parent_id, container DESC, id DESC);
CREATE INDEX items_everywhere ON items (base_id, container DESC, id DESC);
CREATE INDEX items_of_base ON items (base_id, status);
CREATE INDEX items_deleting ON items (base_id) WHERE status = 'deleting';
CREATE INDEX items_active ON items (id)
  WHERE status IN ('preparing', 'processing', 'reading', 'embedding');

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  lane TEXT NOT NULL,
  base_id TEXT NOT NULL,
  item_id TEXT,
  key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN
    ('ready', 'later', 'parked', 'running', 'done', 'failed', 'cancelled')),
  ordinal INTEGER NOT NULL,
  large INTEGER NOT NULL,
  run_at INTEGER,
  reason TEXT,
  attempt INTEGER NOT NULL DEFAULT 0,
  deaths INTEGER NOT NULL DEFAULT 0,
  verdict TEXT NOT NULL DEFAULT 'run',
  claim INTEGER,
  slot INTEGER,
  owner TEXT,
  lease_until INTEGER,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  generation INTEGER,
  workload INTEGER NOT NULL,
  input TEXT NOT NULL,
  error_code TEXT,
  error TEXT,
  error_advice TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX jobs_live_key ON jobs (key)
  WHERE state IN ('ready', 'later', 'parked', 'running');
CREATE INDEX jobs_ready ON jobs (lane, base_id, large, ordinal) WHERE state = 'ready';
CREATE INDEX jobs_later ON jobs (lane, run_at) WHERE state = 'later';
CREATE INDEX jobs_running ON jobs (lane, base_id) WHERE state = 'running';
CREATE INDEX jobs_parked ON jobs (base_id) WHERE state = 'parked';
CREATE INDEX jobs_solo ON jobs (lane) WHERE state = 'ready' AND deaths >= 3;
CREATE INDEX jobs_of_item ON jobs (item_id)
  WHERE state IN ('ready', 'later', 'parked', 'running');
CREATE INDEX jobs_of_base ON jobs (base_id, state)
  WHERE state IN ('ready', 'later', 'parked', 'running');
CREATE INDEX jobs_ended ON jobs (kind, id) WHERE state IN ('done', 'failed', 'cancelled');

CREATE TABLE job_roots (
  job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  PRIMARY KEY (item_id, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_roots_of_job ON job_roots (job_id);

CREATE TABLE providers (
  name TEXT PRIMARY KEY,
  paused_until INTEGER,
  reason TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  texts_embedded INTEGER NOT NULL DEFAULT 0,
  texts_reused INTEGER NOT NULL DEFAULT 0,
  model_calls INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE file_entries (
  id TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE file_refs (
  entry_id TEXT NOT NULL REFERENCES file_entries (id),
  source_type TEXT NOT NULL,
  source_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('source', 'snapshot', 'processed')),
  PRIMARY KEY (source_id, role, entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_refs_entry ON file_refs (entry_id);

CREATE TABLE item_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  base_id TEXT NOT NULL,
  item_id TEXT NOT NULL,
  status TEXT,
  generation INTEGER,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX item_events_of_item ON item_events (item_id, id);

CREATE TABLE answers (
  key TEXT NOT NULL,
  principal TEXT NOT NULL,
  body TEXT NOT NULL,
  answer TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key, principal)
) STRICT, WITHOUT ROWID;

-- T1: the only way out of deleting is that the row is gone.
CREATE TRIGGER items_deleting_is_final BEFORE UPDATE OF status ON items
WHEN old.status = 'deleting' AND new.status <> 'deleting'
BEGIN SELECT raise(ABORT, 'T1: an item being deleted stays being deleted'); END;

-- T2: nothing is born under what is being deleted or is not there.
CREATE TRIGGER items_not_under_deleting BEFORE INSERT ON items
WHEN (new.parent_id IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM items WHERE id = new.parent_id AND status <> 'deleting'))
  OR NOT EXISTS (SELECT 1 FROM bases WHERE id = new.base_id AND status <> 'deleting')
BEGIN SELECT raise(ABORT, 'T2: nothing is inserted under a deleting or missing parent'); END;

-- T3: generations and claims only grow.
CREATE TRIGGER items_generation_grows BEFORE UPDATE OF generation ON items
WHEN new.generation < old.generation
BEGIN SELECT raise(ABORT, 'T3: a generation never falls'); END;
CREATE TRIGGER jobs_claim_grows BEFORE UPDATE OF claim ON jobs
WHEN old.claim IS NOT NULL AND (new.claim IS NULL OR new.claim < old.claim)
BEGIN SELECT raise(ABORT, 'T3: a claim number never falls'); END;

-- T4: what is completed becomes active again by a new generation only.
CREATE TRIGGER items_completed_needs_generation BEFORE UPDATE OF status ON items
WHEN old.status = 'completed' AND old.container = 0 AND new.generation = old.generation
  AND new.status IN ('preparing', 'processing', 'reading', 'embedding')
BEGIN SELECT raise(ABORT, 'T4: a completed leaf starts again with a new generation'); END;

-- T5: progress within one generation never falls.
CREATE TRIGGER items_progress_grows BEFORE UPDATE OF progress ON items
WHEN new.generation = old.generation AND new.progress < old.progress
BEGIN SELECT raise(ABORT, 'T5: progress never falls within a generation'); END;

-- The ledger follows the status by itself, so no writer can forget it.
CREATE TRIGGER items_born AFTER INSERT ON items
BEGIN
  INSERT INTO item_events (at, kind, base_id, item_id, status, generation, detail)
  VALUES (new.created_at, 'item.status', new.base_id, new.id, new.status, new.generation,
    CASE WHEN new.error_code IS NULL THEN '{}' ELSE json_object('code', new.error_code) END);
END;
CREATE TRIGGER items_moved AFTER UPDATE OF status ON items
WHEN old.status <> new.status OR old.generation <> new.generation
BEGIN
  INSERT INTO item_events (at, kind, base_id, item_id, status, generation, detail)
  VALUES (new.updated_at, 'item.status', new.base_id, new.id, new.status, new.generation,
    CASE WHEN new.error_code IS NULL THEN '{}' ELSE json_object('code', new.error_code) END);
END;
CREATE TRIGGER items_gone AFTER DELETE ON items
BEGIN
  INSERT INTO item_events (at, kind, base_id, item_id, status, generation, detail)
  VALUES (old.updated_at, 'item.gone', old.base_id, old.id, NULL, old.generation, '{}');
END;
