DROP VIEW shown_runs;
