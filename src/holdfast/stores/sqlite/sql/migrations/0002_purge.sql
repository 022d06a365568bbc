-- Whether text that was deleted may still stand in the write-ahead log of the main store.
ALTER TABLE engine ADD COLUMN purge INTEGER NOT NULL DEFAULT 0;
