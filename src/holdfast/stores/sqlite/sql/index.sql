-- Builds, chunks, vectors and codes of one base's index file.

-- name: index_meta
-- What the file says about itself.
SELECT base, rev, pruned, clean, purge FROM meta

-- name: next_index_rev
-- Caches in memory keep in step by this number.
UPDATE meta SET rev = rev + 1 RETURNING rev

-- name: mark_index_clean
-- Unclean from the first write until a close: tells the next open to look closely.
UPDATE meta SET clean = :clean WHERE clean <> :clean

-- name: width_of_space
-- How wide the vectors of a space are; no row: none was put yet.
SELECT width FROM space WHERE space = :space

-- name: note_space
-- The first vectors of a space settle its width.
INSERT INTO space (space, width) VALUES (:space, :width) ON CONFLICT DO NOTHING

-- name: hashes_without_vector
-- Which of these texts were never embedded, or collected since.
SELECT json_group_array(h.value) FROM json_each(:hashes) AS h
WHERE NOT EXISTS (SELECT 1 FROM vec WHERE text_hash = unhex(h.value) AND space = :space)

-- name: new_hashes
-- Which of these texts get their first vector in this space while a chunk names them already.
SELECT json_group_array(h.value) FROM json_each(:hashes) AS h
WHERE NOT EXISTS (SELECT 1 FROM vec WHERE text_hash = unhex(h.value) AND space = :space)
  AND EXISTS (SELECT 1 FROM chunk WHERE text_hash = unhex(h.value))

-- name: put_vectors
-- The newest vector of a text is the one it has (a forced re-index asks the model again).
INSERT INTO vec (text_hash, space, claim, f16)
SELECT unhex(h.value), :space, :claim, substr(:rows, 1 + h.key * :size, :size)
FROM json_each(:hashes) AS h WHERE true
ON CONFLICT (text_hash, space) DO UPDATE SET claim = excluded.claim, f16 = excluded.f16

-- name: note_lone_vectors
-- Of these texts those that no chunk names: kept while the claim lives.
INSERT INTO lone (text_hash, space, claim)
SELECT v.text_hash, v.space, v.claim
FROM json_each(:hashes) AS h CROSS JOIN vec AS v ON v.text_hash = unhex(h.value)
WHERE NOT EXISTS (SELECT 1 FROM chunk AS c WHERE c.text_hash = v.text_hash)
ON CONFLICT (text_hash, space) DO UPDATE SET claim = excluded.claim

-- name: forget_lone_vectors
-- A chunk names them now.
DELETE FROM lone WHERE text_hash IN (SELECT unhex(value) FROM json_each(:hashes))

-- name: collect_vectors
-- No chunk names them and the claim that put them is not live.
DELETE FROM vec WHERE (text_hash, space) IN (
    SELECT text_hash, space FROM lone WHERE claim NOT IN (SELECT value FROM json_each(:live)))

-- name: collect_lone
-- Together with the vectors themselves.
DELETE FROM lone WHERE claim NOT IN (SELECT value FROM json_each(:live))

-- name: vectors_of
-- The vectors of these texts, one after the other, in the order asked; one row.
SELECT CAST(group_concat(CAST(f16 AS TEXT), '') AS BLOB) FROM (
    SELECT v.f16 FROM json_each(:hashes) AS h
    CROSS JOIN vec AS v ON v.text_hash = unhex(h.value) AND v.space = :space
    ORDER BY h.key)

-- name: open_builds
-- New, empty, unsealed builds, in the order given.
INSERT INTO build (item, claim, state, rev)
SELECT value ->> 0, value ->> 1, 0, 0 FROM json_each(:pairs)
RETURNING id

-- name: standing_build
-- The build a run writes to; no row: it was removed, someone newer took over.
SELECT id, state, n, digest FROM build WHERE item = :item AND claim = :claim AND state < 2

-- name: ordinals_of_build
-- Which of these places are taken: a page may be given twice.
SELECT json_group_array(ordinal) FROM chunk
WHERE build = :build AND ordinal BETWEEN :low AND :high

-- name: take_chunk_ids
-- Numbers are never given twice, so an old answer cannot name a new chunk.
UPDATE meta SET next_chunk = next_chunk + :n RETURNING next_chunk - :n

-- name: insert_chunks
-- A page at once: the texts are one blob, the rows say where each begins.
INSERT INTO chunk
    (id, build, ordinal, text_hash, char_start, char_end, page, headings, text)
SELECT :first + r.key, r.value ->> 0, r.value ->> 1, unhex(r.value ->> 2), r.value ->> 3,
       r.value ->> 4, r.value ->> 5, r.value ->> 6,
       coalesce(substr(:texts, 1 + (r.value ->> 7), r.value ->> 8), x'')
FROM json_each(:rows) AS r

-- name: insert_lines
-- The words of the same page.
INSERT INTO fts (rowid, line) SELECT :first + key, value FROM json_each(:lines)

-- name: insert_page
-- Chunks that were written together have numbers in a row.
INSERT INTO page (first, build, n) VALUES (:first, :build, :n)

-- name: insert_code
-- The codes of a page in one space, packed.
INSERT INTO code (first, space, codes) VALUES (:first, :space, :codes)

-- name: hashes_of_build
-- The texts of a build in order, run together as their seal is.
SELECT count(*), coalesce(group_concat(h, ''), '') FROM (
    SELECT lower(hex(text_hash)) AS h FROM chunk WHERE build = :build ORDER BY ordinal)

-- name: seal_build
-- Complete: from this rev on its chunks may answer.
UPDATE build SET state = 1, rev = :rev, n = :n, digest = :digest WHERE id = :build

-- name: bump_builds
-- Codes of another space were added to them: caches look again.
UPDATE build SET rev = :rev WHERE state = 1 AND id IN (SELECT value FROM json_each(:builds))

-- name: pages_to_code
-- Pages that name one of these texts, have no codes in this space, and now lack no vector for it.
SELECT DISTINCT p.first, p.build, p.n FROM json_each(:hashes) AS h
CROSS JOIN chunk AS c ON c.text_hash = unhex(h.value)
CROSS JOIN page AS p ON p.first = (SELECT max(first) FROM page WHERE first <= c.id)
WHERE NOT EXISTS (SELECT 1 FROM code AS k WHERE k.first = p.first AND k.space = :space)
  AND NOT EXISTS (
    SELECT 1 FROM chunk AS o WHERE o.id BETWEEN p.first AND p.first + p.n - 1 AND NOT EXISTS (
        SELECT 1 FROM vec AS v WHERE v.text_hash = o.text_hash AND v.space = :space))

-- name: hashes_of_page
-- The texts of a page in order.
SELECT json_group_array(lower(hex(text_hash))) FROM (
    SELECT text_hash FROM chunk WHERE id BETWEEN :first AND :first + :n - 1 ORDER BY id)

-- name: all_builds
-- Every build that stands here; one that is going is listed as unsealed, so that it is removed.
SELECT item, claim, iif(state = 1, n, NULL), iif(state = 1, digest, NULL)
FROM build WHERE state < 3 ORDER BY id

-- name: seals_of
-- The seals of those of these pairs that are sealed. The first comparison is for the planner: it
-- is what the index of standing builds says of itself.
SELECT b.item, b.claim, b.n, b.digest FROM json_each(:pairs) AS p
CROSS JOIN build AS b ON b.item = p.value ->> 0 AND b.claim = p.value ->> 1
WHERE b.state < 2 AND b.state = 1

-- name: builds_before
-- Builds of these items with smaller numbers than the given.
SELECT json_group_array(b.id) FROM json_each(:pairs) AS p
CROSS JOIN build AS b ON b.item = p.value ->> 0 AND b.claim < p.value ->> 1
WHERE b.state < 3

-- name: builds_exactly
-- Exactly these.
SELECT json_group_array(b.id) FROM json_each(:pairs) AS p
CROSS JOIN build AS b ON b.item = p.value ->> 0 AND b.claim = p.value ->> 1
WHERE b.state < 3

-- name: builds_of_items
-- All of these items.
SELECT json_group_array(b.id) FROM json_each(:items) AS i
CROSS JOIN build AS b ON b.item = i.value
WHERE b.state < 3

-- name: let_builds_go
-- From this rev on they answer no more; their chunks follow slice by slice.
UPDATE build SET state = 2, rev = :rev
WHERE state < 2 AND id IN (SELECT value FROM json_each(:builds))

-- name: chunks_to_remove
-- The next slice of chunks of builds that are going, and the texts they name.
SELECT json_group_array(id), json_group_array(DISTINCT h) FROM (
    SELECT c.id, lower(hex(c.text_hash)) AS h FROM json_each(:builds) AS b
    CROSS JOIN chunk AS c ON c.build = b.value LIMIT :limit)

-- name: remove_lines
-- Their words first: what is in full text stands in chunks.
DELETE FROM fts WHERE rowid IN (SELECT value FROM json_each(:ids))

-- name: remove_chunks
-- The chunks of a slice.
DELETE FROM chunk WHERE id IN (SELECT value FROM json_each(:ids))

-- name: remove_codes
-- Codes of builds that have no chunk left.
DELETE FROM code WHERE first IN (
    SELECT p.first FROM json_each(:builds) AS b CROSS JOIN page AS p ON p.build = b.value
    WHERE NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.build = b.value))

-- name: remove_pages
-- And the pages themselves.
DELETE FROM page WHERE build IN (
    SELECT value FROM json_each(:builds) WHERE NOT EXISTS (
        SELECT 1 FROM chunk WHERE chunk.build = value))

-- name: bury_builds
-- Nothing of them is left but the tombstone.
UPDATE build SET state = 3, n = NULL, digest = NULL
WHERE state = 2 AND id IN (SELECT value FROM json_each(:builds))
  AND NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.build = build.id)

-- name: prune_tombstones
-- Caches older than this read everything anew.
DELETE FROM build WHERE state = 3 AND rev <= :rev

-- name: note_pruned
-- See prune_tombstones.
UPDATE meta SET pruned = max(pruned, :rev)

-- name: note_removal
-- Deleted text may stand in full text segments and in the write-ahead log: a purge is due.
UPDATE meta SET purge = :due WHERE purge <> :due

-- name: chunks_of_build
-- A page of one build, its texts in one blob; one row.
SELECT json_group_array(json_array(id, item, claim, ordinal, char_start, char_end, page,
                                   json(headings), lower(hex(text_hash)), length(text))),
       CAST(group_concat(CAST(text AS TEXT), '') AS BLOB)
FROM (SELECT c.*, b.item, b.claim FROM build AS b CROSS JOIN chunk AS c ON c.build = b.id
      WHERE b.item = :item AND b.claim = :claim AND b.state < 2 AND c.ordinal > :after
      ORDER BY c.ordinal LIMIT :limit)

-- name: chunks_by_id
-- The same for chosen chunks.
SELECT json_group_array(json_array(id, item, claim, ordinal, char_start, char_end, page,
                                   json(headings), lower(hex(text_hash)), length(text))),
       CAST(group_concat(CAST(text AS TEXT), '') AS BLOB)
FROM (SELECT c.*, b.item, b.claim FROM json_each(:ids) AS i CROSS JOIN chunk AS c ON c.id = i.value
      CROSS JOIN build AS b ON b.id = c.build WHERE b.state < 2)

-- name: builds_left
-- Those of these builds of which something is left to remove.
SELECT json_group_array(id) FROM build
WHERE state = 2 AND id IN (SELECT value FROM json_each(:builds))

-- name: rev_of_index
-- The number of the last change that caches follow.
SELECT rev FROM meta
