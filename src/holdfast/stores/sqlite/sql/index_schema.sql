-- The form of one base's index file.

-- name: index_schema
-- `state` of a build: 0 open, 1 sealed, 2 going (chunks are being removed), 3 gone: a tombstone
-- that tells caches in memory. `lone` holds the vectors that no chunk names.
CREATE TABLE meta (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    base TEXT NOT NULL,
    made REAL NOT NULL,
    rev INTEGER NOT NULL,
    pruned INTEGER NOT NULL,
    next_chunk INTEGER NOT NULL,
    clean INTEGER NOT NULL,
    purge INTEGER NOT NULL
);
CREATE TABLE space (space INTEGER PRIMARY KEY, width INTEGER NOT NULL);
CREATE TABLE build (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    item TEXT NOT NULL,
    claim INTEGER NOT NULL,
    state INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    n INTEGER,
    digest TEXT
);
CREATE UNIQUE INDEX build_standing ON build (item, claim) WHERE state < 2;
CREATE INDEX build_by_item ON build (item, claim) WHERE state < 3;
CREATE INDEX build_by_rev ON build (rev);
CREATE INDEX build_tombstones ON build (rev) WHERE state = 3;
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    build INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    char_start INTEGER NOT NULL,
    char_end INTEGER NOT NULL,
    page INTEGER,
    headings TEXT,
    text BLOB NOT NULL
);
CREATE UNIQUE INDEX chunk_in_build ON chunk (build, ordinal);
CREATE INDEX chunk_by_hash ON chunk (text_hash);
CREATE TABLE vec (
    id INTEGER PRIMARY KEY,
    text_hash BLOB NOT NULL,
    space INTEGER NOT NULL,
    claim INTEGER NOT NULL,
    f16 BLOB NOT NULL
);
CREATE UNIQUE INDEX vec_of_text ON vec (text_hash, space);
CREATE TABLE lone (
    text_hash BLOB NOT NULL,
    space INTEGER NOT NULL,
    claim INTEGER NOT NULL,
    PRIMARY KEY (text_hash, space)
) WITHOUT ROWID;
CREATE TABLE page (first INTEGER PRIMARY KEY, build INTEGER NOT NULL, n INTEGER NOT NULL);
CREATE INDEX page_of_build ON page (build);
CREATE TABLE code (
    id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    space INTEGER NOT NULL,
    codes BLOB NOT NULL
);
CREATE UNIQUE INDEX code_of_page ON code (first, space);
CREATE VIRTUAL TABLE fts USING fts5 (
    line, content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* S* P* Co Cf'"
);
CREATE VIRTUAL TABLE fts_words USING fts5vocab (fts, row);
PRAGMA user_version = 1

-- name: index_first_row
-- An empty index of this base.
INSERT INTO meta (only_row, base, made, rev, pruned, next_chunk, clean, purge)
VALUES (1, :base, :made, 1, 0, 1, 1, 0)
