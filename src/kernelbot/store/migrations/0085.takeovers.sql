-- depends: 0001.schema
-- How often an attempt was taken over: one that ends every worker that follows it must be lost.
ALTER TABLE attempts ADD COLUMN takeovers integer NOT NULL DEFAULT 0;
