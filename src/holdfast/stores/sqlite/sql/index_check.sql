-- Is an index what it should be, and is deleted text still somewhere in its file?

-- name: index_form
-- The number of the file's form; 0 and no table: it was never finished.
SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)

-- name: quick_check
-- Every page and every index entry, without comparing indexes with their tables.
SELECT json_group_array(quick_check) FROM pragma_quick_check

-- name: integrity_check
-- The same, and indexes with their tables.
SELECT json_group_array(integrity_check) FROM pragma_integrity_check

-- name: renew_full_text
-- A connection remembers which segments full text has, and only a question to it makes it look
-- again; without one the integrity check above finds segments missing that were merged long ago.
SELECT rowid FROM fts WHERE fts MATCH 'a'

-- name: check_full_text
-- Full text looks through itself; an error says that something is wrong.
INSERT INTO fts (fts) VALUES ('integrity-check')

-- name: rows_only_in_one
-- Full text and chunks hold the same set.
SELECT (SELECT count(*) FROM chunk WHERE id NOT IN (SELECT id FROM fts_docsize)),
       (SELECT count(*) FROM fts_docsize WHERE id NOT IN (SELECT id FROM chunk))

-- name: words_of_full_text
-- Every word and in how many chunks it stands.
SELECT term, doc, cnt FROM fts_words

-- name: sealed_builds
-- What was sealed, to be counted again.
SELECT id, item, claim, n, digest FROM build WHERE state = 1 ORDER BY id

-- name: chunks_to_check
-- The next chunks with their texts; one row.
SELECT json_group_array(json_array(id, item, claim, ordinal, char_start, char_end, page,
                                   json(headings), lower(hex(text_hash)), length(text))),
       CAST(group_concat(CAST(text AS TEXT), '') AS BLOB)
FROM (SELECT c.*, b.item, b.claim FROM chunk AS c CROSS JOIN build AS b ON b.id = c.build
      WHERE c.id > :after ORDER BY c.id LIMIT :limit)

-- name: chunks_without_home
-- Chunks of no build, of no page, or of a build that is gone.
SELECT count(*) FROM chunk AS c WHERE NOT EXISTS (
    SELECT 1 FROM build AS b WHERE b.id = c.build AND b.state < 3)
  OR NOT EXISTS (
    SELECT 1 FROM page AS p WHERE p.build = c.build AND c.id BETWEEN p.first AND p.first + p.n - 1)

-- name: lone_and_not_noted
-- Vectors that no chunk names and that nobody would collect; notes of vectors that are named.
SELECT (SELECT count(*) FROM vec AS v WHERE NOT EXISTS (
            SELECT 1 FROM chunk AS c WHERE c.text_hash = v.text_hash)
          AND NOT EXISTS (
            SELECT 1 FROM lone AS l WHERE l.text_hash = v.text_hash AND l.space = v.space)),
       (SELECT count(*) FROM lone AS l WHERE EXISTS (
            SELECT 1 FROM chunk AS c WHERE c.text_hash = l.text_hash))

-- name: coded_pages
-- The next page that has codes; one row.
SELECT k.id, p.first, p.n, k.space, k.codes FROM code AS k
LEFT JOIN page AS p ON p.first = k.first WHERE k.id > :after ORDER BY k.id LIMIT 1

-- name: spaces
-- The spaces and how wide they are.
SELECT space, width FROM space

-- name: lone_vectors_to_check
-- The next vectors, one after the other; one row.
SELECT max(id), count(*), CAST(group_concat(CAST(f16 AS TEXT), '') AS BLOB)
FROM (SELECT id, f16 FROM vec WHERE space = :space AND id > :after ORDER BY id LIMIT :limit)

-- name: has_deleted_words
-- Full text keeps deleted words under tombstones, which live above this number, until it merges.
SELECT EXISTS (SELECT 1 FROM fts_data WHERE id >= 9007199254740992)

-- name: merge_from_the_start
-- Everything is to become one segment.
INSERT INTO fts (fts, rank) VALUES ('merge', -:pages)

-- name: merge_on
-- A bit more of that.
INSERT INTO fts (fts, rank) VALUES ('merge', :pages)

-- name: purge_stage
-- 0: no deleted text anywhere; 1: there is; 2: the merge has begun.
UPDATE meta SET purge = :stage
