-- What is held or refused, by its code: the same code that its author sent later isn't ranked.

CREATE INDEX submissions_refused_source ON submissions (leaderboard_id, author_id, source_sha256)
    WHERE review <> 'clear';
CREATE INDEX submissions_refused_code ON submissions (leaderboard_id, author_id, code_sha256)
    WHERE review <> 'clear';

-- What was wrong when it was measured again counts among what its author has withdrawn, from now on
-- as soon as the rejudge ends.
INSERT INTO withdrawn_sources (
    leaderboard_id, author_id, source_sha256, judging_hash, device, submission_id, code_sha256
)
SELECT DISTINCT ON (s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, r.device)
    s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, r.device, s.id, s.code_sha256
FROM rejudges j
JOIN problem_versions v ON v.id = j.problem_version_id
JOIN runs r ON r.rejudge_id = j.id AND r.fault = 'author'
JOIN submissions s ON s.id = r.submission_id
WHERE j.finished_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM runs later JOIN rejudges k ON k.id = later.rejudge_id
    WHERE later.submission_id = r.submission_id AND later.device = r.device
        AND later.rejudge_id > r.rejudge_id AND later.verdict = 'accepted'
        AND k.finished_at IS NOT NULL
)
ORDER BY s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, r.device, s.id
ON CONFLICT DO NOTHING;
