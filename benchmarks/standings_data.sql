-- A competition of some size; standings_data.py fills in :result and :samples.
SET session_replication_role = replica;
SET synchronous_commit = off;
SET maintenance_work_mem = '512MB';
SET work_mem = '128MB';
SELECT setseed(0.5);

INSERT INTO users (name)
SELECT 'author-' || n FROM generate_series(1, 20000) n;

INSERT INTO sources (sha256, content)
SELECT sha256(convert_to(content, 'UTF8')), content
FROM (
    SELECT '# author ' || n || E'\n' || repeat(E'def custom_kernel(data):\n    return data\n', 40)
        AS content
    FROM generate_series(1, 20000) n
) written;

CREATE TEMP TABLE bench_boards AS
SELECT id, problem_version_id, row_number() OVER (ORDER BY id) AS number FROM leaderboards;
CREATE TEMP TABLE bench_authors AS
SELECT u.id, u.number, s.sha256
FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM users WHERE name LIKE 'author-%') u
JOIN (
    SELECT sha256, row_number() OVER (ORDER BY sha256) AS number FROM sources
) s USING (number);

-- 150,000 of them by 15,000 authors on the first board, the rest over the others.
INSERT INTO submissions (
    leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode, created_at
)
SELECT b.id, b.problem_version_id, a.id, a.sha256, 'submission.py', 'leaderboard',
    now() - make_interval(secs => (1000000 - placed.n) * 2)
FROM (
    SELECT n,
        CASE WHEN n % 20 < 3 THEN 1 ELSE 2 + n % 49 END AS board,
        CASE WHEN n % 20 < 3 THEN 1 + (n / 20 * 3 + n % 20) % 15000
            ELSE 1 + (n::bigint * 7919) % 20000 END AS author
    FROM generate_series(1, 1000000) n
) placed
JOIN bench_boards b ON b.number = placed.board
JOIN bench_authors a ON a.number = placed.author
ORDER BY placed.n;

-- Public and secret on two devices: four runs each, six of seven submissions accepted.
INSERT INTO runs (
    submission_id, device, secret, author_id, priority, state, verdict, fault, message, score_s,
    ci_low_s, ci_high_s, attempts, created_at, started_at, finished_at
)
SELECT id, device, secret, author_id, 1, 'finished',
    (CASE WHEN id % 7 > 0 THEN 'accepted' ELSE 'wrong_answer' END)::run_verdict,
    (CASE WHEN id % 7 > 0 THEN NULL ELSE 'author' END)::fault,
    CASE WHEN id % 7 > 0 THEN NULL ELSE 'The output is wrong.' END,
    score_s, score_s * 0.999, score_s * 1.001, 1,
    created_at, created_at + interval '1 s', created_at + interval '3 s'
FROM (
    SELECT s.id, s.author_id, s.created_at, d.device, d.secret,
        CASE WHEN s.id % 7 > 0 THEN 1e-4 * exp(3 * random()) END AS score_s
    FROM submissions s
    CROSS JOIN (VALUES ('CPU', false), ('CPU', true), ('H100', false), ('H100', true))
        AS d (device, secret)
) judged;

-- Whole results for the latest; what is older is read in lists and rankings alone.
INSERT INTO attempts (run_id, number, state, launcher, owner, handle, ended_at, result)
SELECT r.id, 1, 'finished', 'local', 'bench', 'bench', r.finished_at, :result::jsonb
FROM runs r WHERE r.submission_id > (SELECT max(id) - 10000 FROM submissions);
INSERT INTO measurements (
    run_id, phase, workload, spec, samples, median_ns, ci_low_ns, ci_high_ns, samples_zlib
)
SELECT r.id, 'leaderboard', w, 'size: ' || w, 100, 1e5, 0.9e5, 1.1e5, :samples
FROM runs r CROSS JOIN generate_series(0, 3) w
WHERE r.submission_id > (SELECT max(id) - 10000 FROM submissions);

-- The rankings as `rebuild_standings` would make them, which checks every row's references too.
ANALYZE;
INSERT INTO standings
SELECT leaderboard_id, device, author_id, run_id, submission_id, score_s, ci_low_s, ci_high_s,
    achieved_at, false
FROM standing_runs;
ANALYZE;
SELECT mark_leaders(leaderboard_id, device, '-Infinity', '-infinity', 0) FROM leaderboard_devices;
UPDATE leaderboard_devices d SET authors = (
    SELECT count(*) FROM standings s
    WHERE s.leaderboard_id = d.leaderboard_id AND s.device = d.device
);
SET session_replication_role = DEFAULT;
