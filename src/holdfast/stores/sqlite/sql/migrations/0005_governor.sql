-- What a provider was sent, who looks whether it is back, and how each base's model answers.
ALTER TABLE providers ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE providers ADD COLUMN probe INTEGER;

CREATE TABLE fingerprints (
  base_id TEXT NOT NULL REFERENCES bases (id) ON DELETE CASCADE,
  space INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (base_id, space)
) STRICT, WITHOUT ROWID;
