-- What a search asks of one base's index file, inside one read transaction.

-- name: index_moment
-- The first look of a snapshot: its rev, the rev of the last pruning, the spaces and their widths.
SELECT rev, pruned, (SELECT json_group_array(json_array(space, width)) FROM space) FROM meta

-- name: builds_since
-- What caches have to do to keep in step.
SELECT id, item, state, rev FROM build WHERE rev > :since AND state > 0

-- name: rows_to_cache
-- How many rows a cache of this index would hold.
SELECT coalesce(sum(p.n), 0) FROM build AS b CROSS JOIN page AS p ON p.build = b.id
WHERE b.state = 1

-- name: all_codes
-- The next pages of sealed builds, their codes in one blob; one row.
SELECT json_group_array(json_array(first, build, n)),
       CAST(group_concat(CAST(codes AS TEXT), '') AS BLOB)
FROM (SELECT p.first, p.build, p.n, k.codes FROM page AS p
      CROSS JOIN build AS b ON b.id = p.build AND b.state = 1
      CROSS JOIN code AS k ON k.first = p.first AND k.space = :space
      WHERE p.first > :after AND b.rev > :since ORDER BY p.first LIMIT :pages)

-- name: new_codes
-- The same for builds that changed since a rev, which are few.
SELECT json_group_array(json_array(first, build, n)),
       CAST(group_concat(CAST(codes AS TEXT), '') AS BLOB)
FROM (SELECT p.first, p.build, p.n, k.codes FROM build AS b
      CROSS JOIN page AS p ON p.build = b.id AND p.first > :after
      CROSS JOIN code AS k ON k.first = p.first AND k.space = :space
      WHERE b.state = 1 AND b.rev > :since ORDER BY p.first LIMIT :pages)

-- name: vectors_of_chunks
-- The exact vectors of chosen chunks, and whose they are; one row.
SELECT json_group_array(json_array(c.id, b.item, b.claim)),
       CAST(group_concat(CAST(v.f16 AS TEXT), '') AS BLOB)
FROM json_each(:ids) AS i CROSS JOIN chunk AS c ON c.id = i.value
CROSS JOIN build AS b ON b.id = c.build
CROSS JOIN vec AS v ON v.text_hash = c.text_hash AND v.space = :space

-- name: count_matches
-- How many chunks hold each, as far as we want to know.
SELECT json_group_array((
    SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH e.value LIMIT :limit)))
FROM json_each(:expressions) AS e

-- name: oldest_of_newest
-- The chunk number from which on at most so many match.
SELECT rowid FROM fts WHERE fts MATCH :expression ORDER BY rowid DESC LIMIT 1 OFFSET :offset

-- name: ranked
-- Full text ranks on its own index alone; whose chunks they are is joined after.
SELECT count(*), json_group_array(json_array(r.id, b.item, b.claim, -r.rank))
           FILTER (WHERE b.state = 1 AND b.item NOT IN (SELECT value FROM json_each(:masked)))
FROM (SELECT rowid AS id, rank FROM fts WHERE fts MATCH :expression AND rowid >= :since
      ORDER BY rank LIMIT :limit) AS r
CROSS JOIN chunk AS c ON c.id = r.id CROSS JOIN build AS b ON b.id = c.build

-- name: ranked_within
-- Only chunks of these items are ranked: the plus keeps the set from being looked up row by row.
SELECT count(*), json_group_array(json_array(r.id, b.item, b.claim, -r.score)) FROM (
    SELECT rowid AS id, bm25(fts) AS score FROM fts
    WHERE fts MATCH :expression AND rowid >= :since AND +rowid IN (
        SELECT c.id FROM json_each(:within) AS i
        CROSS JOIN build AS o ON o.item = i.value AND o.state < 2 AND o.state = 1
        CROSS JOIN chunk AS c ON c.build = o.id)
    ORDER BY score, rowid LIMIT :limit) AS r
CROSS JOIN chunk AS c ON c.id = r.id CROSS JOIN build AS b ON b.id = c.build

-- name: chunks_around
-- The places before and after one, of the same build.
SELECT json_group_array(json_array(id, item, claim, ordinal, char_start, char_end, page,
                                   json(headings), lower(hex(text_hash)), length(text))),
       CAST(group_concat(CAST(text AS TEXT), '') AS BLOB)
FROM (SELECT c.*, b.item, b.claim FROM build AS b CROSS JOIN chunk AS c ON c.build = b.id
      WHERE b.item = :item AND b.claim = :claim AND b.state < 2 AND b.state = 1
        AND c.ordinal BETWEEN :low AND :high AND c.ordinal <> :middle
      ORDER BY c.ordinal)

-- name: rows_of_items
-- How many chunks these items answer with.
SELECT coalesce(sum(b.n), 0) FROM json_each(:items) AS i
CROSS JOIN build AS b ON b.item = i.value AND b.state < 2 AND b.state = 1
