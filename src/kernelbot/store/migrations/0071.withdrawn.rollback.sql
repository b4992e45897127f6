CREATE OR REPLACE VIEW eligible_runs AS
SELECT r.leaderboard_id, r.device, r.author_id, r.run_id, r.submission_id, r.score_s,
    r.ci_low_s, r.ci_high_s, r.achieved_at, r.source_sha256, r.rejudge_id, r.measured_at
FROM rankable_runs r
JOIN leaderboards b ON b.id = r.leaderboard_id
JOIN problem_versions current ON current.id = b.problem_version_id
    AND current.judging_hash = r.judging_hash;
DROP TABLE withdrawn_sources;
