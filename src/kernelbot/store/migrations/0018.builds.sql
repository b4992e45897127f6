-- What build steps have made, so that a source is compiled once for all of its runs.

-- `attempt_id`: of the run that has it built. Once that attempt has ended, another may take the build
-- over. `built_at` NULL: it isn't there yet; `content` NULL after that: there is nothing to carry.
CREATE TABLE builds (
    key bytea PRIMARY KEY CHECK (octet_length(key) = 32),
    source_sha256 bytea NOT NULL REFERENCES sources ON DELETE CASCADE,
    attempt_id bigint REFERENCES attempts ON DELETE SET NULL,
    tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
    launcher text,
    handle text,
    built_at timestamptz,
    used_at timestamptz NOT NULL DEFAULT now(),
    sha256 bytea CHECK (octet_length(sha256) = 32),
    described jsonb,
    content bytea,
    CONSTRAINT content_has_a_hash CHECK (num_nonnulls(sha256, described, content) IN (0, 3)),
    CONSTRAINT only_built_has_content CHECK (content IS NULL OR built_at IS NOT NULL),
    CONSTRAINT a_job_has_a_launcher CHECK (handle IS NULL OR launcher IS NOT NULL)
);
ALTER TABLE builds ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX builds_source ON builds (source_sha256);
CREATE INDEX builds_attempt ON builds (attempt_id);
CREATE INDEX builds_content ON builds (sha256);
CREATE INDEX builds_used ON builds (used_at);
