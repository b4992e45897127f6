-- Which score rules there are is said once, in the protocol.
ALTER TABLE problem_versions DROP CONSTRAINT IF EXISTS problem_versions_ranking_by_check;
