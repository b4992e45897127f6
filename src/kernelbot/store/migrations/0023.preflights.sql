-- What compilers said of a submission for a GPU, before it was given one.

-- Of a build: what each submission of its source is told. NULL: nothing, as of all before this.
ALTER TABLE builds ADD COLUMN preflight jsonb;

-- A report that changes gets another id, so that ids tell whether what was shown is still true.
CREATE TABLE preflights (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    device text NOT NULL,
    report jsonb NOT NULL,
    UNIQUE (submission_id, device)
);
