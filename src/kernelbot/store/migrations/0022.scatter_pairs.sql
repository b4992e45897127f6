-- By how many pairs of judgings of its device a ranked run's `scatter` was estimated; NULL: it isn't
-- a ranked run, or was judged when that wasn't recorded.
ALTER TABLE runs ADD COLUMN scatter_pairs bigint CHECK (scatter_pairs >= 0);
