-- Problem versions whose timed calls got the same data again, so that nothing is ranked with them.

-- `said`: of which workload, and what its author may do.
CREATE TABLE recurring_data (
    problem_version_id bigint PRIMARY KEY REFERENCES problem_versions ON DELETE CASCADE,
    said text NOT NULL,
    noticed_at timestamptz NOT NULL DEFAULT now()
);
