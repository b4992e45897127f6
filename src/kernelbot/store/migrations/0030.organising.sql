-- depends: 0010.reviews 0020.accounts
-- Problems that change: scores stay with the version that they were measured on.

-- Versions with the same `judging_hash` judge alike: only their texts for people differ.
ALTER TABLE problem_versions ADD COLUMN judging_hash bytea;
ALTER TABLE problem_versions DISABLE TRIGGER problem_versions_immutable;
UPDATE problem_versions SET judging_hash = content_hash;
ALTER TABLE problem_versions ENABLE TRIGGER problem_versions_immutable;
ALTER TABLE problem_versions
    ALTER COLUMN judging_hash SET NOT NULL,
    ADD CONSTRAINT judging_hash_is_sha256 CHECK (octet_length(judging_hash) = 32);

ALTER TABLE competitions
    ADD COLUMN description text NOT NULL DEFAULT '',
    ADD COLUMN deadline timestamptz;

-- `reveal_code`: whoever sees the board may read its submissions once the deadline has passed.
ALTER TABLE leaderboards ADD COLUMN reveal_code boolean NOT NULL DEFAULT false;

-- What counts. Nothing else in the system decides this.
CREATE OR REPLACE VIEW eligible_runs AS
SELECT
    s.leaderboard_id,
    r.device,
    s.author_id,
    r.id AS run_id,
    s.id AS submission_id,
    r.score_s,
    coalesce(r.ci_low_s, r.score_s) AS ci_low_s,
    coalesce(r.ci_high_s, r.score_s) AS ci_high_s,
    s.created_at AS achieved_at
FROM submissions s
JOIN users u ON u.id = s.author_id AND u.banned_at IS NULL
JOIN leaderboards b ON b.id = s.leaderboard_id
JOIN problem_versions measured ON measured.id = s.problem_version_id
JOIN problem_versions current ON current.id = b.problem_version_id
    AND current.judging_hash = measured.judging_hash
JOIN runs r ON r.submission_id = s.id AND r.secret
    AND r.state = 'finished' AND r.verdict = 'accepted' AND r.score_s IS NOT NULL
JOIN leaderboard_devices offered
    ON offered.leaderboard_id = s.leaderboard_id AND offered.device = r.device
JOIN runs p ON p.submission_id = s.id AND p.device = r.device AND NOT p.secret
    AND p.state = 'finished' AND p.verdict = 'accepted'
WHERE s.mode = 'leaderboard'
    AND s.review = 'clear'
    AND NOT EXISTS (SELECT 1 FROM runs c WHERE c.submission_id = s.id AND c.state = 'cancelled');

-- One board's standings again from `eligible_runs`: its problem or its devices have changed.
CREATE FUNCTION rebuild_board_standings(_board bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record;
BEGIN
    PERFORM 1 FROM leaderboard_devices WHERE leaderboard_id = _board
    ORDER BY device FOR NO KEY UPDATE;
    DELETE FROM standings WHERE leaderboard_id = _board;
    INSERT INTO standings
    SELECT DISTINCT ON (e.device, e.author_id)
        e.leaderboard_id, e.device, e.author_id, e.run_id, e.submission_id, e.score_s,
        e.ci_low_s, e.ci_high_s, e.achieved_at, false
    FROM eligible_runs e
    WHERE e.leaderboard_id = _board
    ORDER BY e.device, e.author_id, e.score_s, e.achieved_at, e.run_id;
    FOR place IN SELECT device FROM leaderboard_devices WHERE leaderboard_id = _board LOOP
        PERFORM mark_leaders(_board, place.device, '-Infinity', '-infinity', 0);
        UPDATE leaderboard_devices d
        SET authors = (
            SELECT count(*) FROM standings s
            WHERE s.leaderboard_id = _board AND s.device = place.device
        )
        WHERE d.leaderboard_id = _board AND d.device = place.device;
    END LOOP;
END;
$$;
