-- What follows from the chunks and vectors of an index, made again from them.

-- name: uncoded_pages
-- Pages that have all their vectors in a space and no codes there: search does not see them.
SELECT p.first, s.space, p.n FROM page AS p CROSS JOIN space AS s
WHERE NOT EXISTS (SELECT 1 FROM code AS k WHERE k.first = p.first AND k.space = s.space)
  AND EXISTS (SELECT 1 FROM chunk WHERE id BETWEEN p.first AND p.first + p.n - 1)
  AND NOT EXISTS (
    SELECT 1 FROM chunk AS c WHERE c.id BETWEEN p.first AND p.first + p.n - 1 AND NOT EXISTS (
        SELECT 1 FROM vec AS v WHERE v.text_hash = c.text_hash AND v.space = s.space))

-- name: drop_homeless_chunks
-- Of no build, of no page, or of a build that is gone: they can answer nothing.
DELETE FROM chunk WHERE NOT EXISTS (
    SELECT 1 FROM build AS b WHERE b.id = chunk.build AND b.state < 3)
  OR NOT EXISTS (
    SELECT 1 FROM page AS p
    WHERE p.build = chunk.build AND chunk.id BETWEEN p.first AND p.first + p.n - 1)

-- name: drop_vectors_of_other_width
DELETE FROM vec WHERE length(f16) <> 2 * (SELECT width FROM space WHERE space.space = vec.space)

-- name: drop_vectors
DELETE FROM vec WHERE id IN (SELECT value FROM json_each(:ids))

-- name: vectors_to_check
-- The next vectors of a space with their ids; one row.
SELECT json_group_array(id), CAST(group_concat(CAST(f16 AS TEXT), '') AS BLOB)
FROM (SELECT id, f16 FROM vec WHERE space = :space AND id > :after ORDER BY id LIMIT :limit)

-- name: builds_lacking_vectors
-- They have codes in a space where one of their texts has no vector any more.
SELECT json_group_array(DISTINCT c.build) FROM page AS p
CROSS JOIN code AS k ON k.first = p.first
CROSS JOIN chunk AS c ON c.id BETWEEN p.first AND p.first + p.n - 1
WHERE NOT EXISTS (SELECT 1 FROM vec AS v WHERE v.text_hash = c.text_hash AND v.space = k.space)

-- name: forget_full_text
INSERT INTO fts (fts) VALUES ('delete-all')

-- name: insert_line
INSERT INTO fts (rowid, line) SELECT value ->> 0, value ->> 1 FROM json_each(:lines)

-- name: drop_codes
DELETE FROM code WHERE id IN (SELECT value FROM json_each(:ids))

-- name: drop_codes_of_nothing
DELETE FROM code WHERE NOT EXISTS (SELECT 1 FROM page WHERE page.first = code.first)

-- name: forget_all_lone
DELETE FROM lone

-- name: note_all_lone
INSERT INTO lone (text_hash, space, claim) SELECT text_hash, space, claim FROM vec
WHERE NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.text_hash = vec.text_hash)
