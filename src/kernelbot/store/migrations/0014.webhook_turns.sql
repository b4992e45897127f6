-- Whose webhooks' turn it is, and pauses of those whose receiver fails.

-- `told_at`: when a message to it was last tried. `failures`: how many have failed since one was
-- delivered; `paused_until`: nothing is tried before.
ALTER TABLE webhooks
    ADD COLUMN host text NOT NULL GENERATED ALWAYS AS (coalesce(lower(substring(
      url FROM '^[A-Za-z]+://(\[[^]]*\]|[^/?#:]*)')), '')) STORED,
    ADD COLUMN told_at timestamptz,
    ADD COLUMN failures integer NOT NULL DEFAULT 0,
    ADD COLUMN paused_until timestamptz;
CREATE INDEX webhook_messages_waiting ON webhook_messages (webhook_id, next_at)
    WHERE next_at IS NOT NULL;
