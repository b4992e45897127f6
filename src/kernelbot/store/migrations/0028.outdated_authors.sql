-- Whose scores on a board's device are of an earlier version of the problem alone, so that it is noticed
-- if they come or go.

-- NULL: it isn't known, as of all before this. Servers of the release before don't write it.
ALTER TABLE decisions ADD COLUMN is_outdated boolean;
