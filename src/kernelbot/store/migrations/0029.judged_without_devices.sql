-- Which devices a problem names is no part of what judging depends on any more: scores of versions that
-- differ in that alone can be compared. So the list leaves `judging_hash`, which is that of `spec` as
-- `definition` has it from now on. Servers of the release before compare these hashes with each other only;
-- those that they make themselves a trigger changes.

-- What a change of the list had put aside counts again. Whoever migrates computes the rankings of these
-- boards again once there are functions for it, in the same transaction, and drops the table.
CREATE TABLE stale_rankings AS
SELECT DISTINCT b.id AS leaderboard_id
FROM leaderboards b
JOIN problem_versions current ON current.id = b.problem_version_id
JOIN (
    SELECT leaderboard_id, problem_version_id FROM submissions WHERE mode = 'leaderboard'
    UNION
    SELECT leaderboard_id, problem_version_id FROM rejudges
    UNION
    SELECT w.leaderboard_id, v.id FROM withdrawn_sources w
    JOIN problem_versions v ON v.judging_hash = w.judging_hash
) judged ON judged.leaderboard_id = b.id
JOIN problem_versions measured ON measured.id = judged.problem_version_id
WHERE measured.judging_hash <> current.judging_hash
    AND (measured.definition -> 'spec')::text = (current.definition -> 'spec')::text;

-- What its author has withdrawn on two such versions was first withdrawn once.
WITH hashes AS (
    SELECT DISTINCT judging_hash AS before,
        sha256(convert_to((definition -> 'spec')::text, 'UTF8')) AS after
    FROM problem_versions
), taken AS (
    DELETE FROM withdrawn_sources w USING hashes h WHERE w.judging_hash = h.before
    RETURNING w.leaderboard_id, w.author_id, w.source_sha256, h.after, w.device, w.submission_id,
        w.code_sha256, w.score_s
)
INSERT INTO withdrawn_sources (
    leaderboard_id, author_id, source_sha256, judging_hash, device, submission_id, code_sha256,
    score_s
)
SELECT DISTINCT ON (leaderboard_id, author_id, source_sha256, after, device)
    leaderboard_id, author_id, source_sha256, after, device, submission_id,
    first_value(code_sha256) OVER (
        PARTITION BY leaderboard_id, author_id, source_sha256, after, device
        ORDER BY code_sha256 NULLS LAST
    ),
    score_s
FROM taken
ORDER BY leaderboard_id, author_id, source_sha256, after, device, submission_id;

-- Versions never change for anybody else: a trigger refuses it.
ALTER TABLE problem_versions DISABLE TRIGGER USER;
UPDATE problem_versions
SET judging_hash = sha256(convert_to((definition -> 'spec')::text, 'UTF8'));
ALTER TABLE problem_versions ENABLE TRIGGER USER;
