ALTER TABLE attempts DROP COLUMN takeovers;
