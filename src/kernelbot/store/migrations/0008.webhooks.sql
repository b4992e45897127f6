-- Webhooks, and what is to be delivered to them.

-- Of a board, for its organisers; `leaderboard_id` NULL: of its owner's own submissions.
-- `secret` signs, so it is kept as it is. `failing_since` NULL: the last message was delivered.
-- `disabled_at`: nothing is delivered any more, for the reason that its owner is shown.
CREATE TABLE webhooks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    leaderboard_id bigint REFERENCES leaderboards ON DELETE CASCADE,
    url text NOT NULL,
    events text[] NOT NULL CHECK (cardinality(events) > 0),
    secret bytea NOT NULL CHECK (octet_length(secret) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    failing_since timestamptz,
    disabled_at timestamptz,
    disabled_reason text,
    CONSTRAINT disabled_for_a_reason
      CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)));
CREATE INDEX webhooks_owner ON webhooks (owner_id);
CREATE INDEX webhooks_board ON webhooks (leaderboard_id);
-- The outbox. `subject` is what happened, so that it is told once. `next_at`: when it is tried
-- next; NULL: it was delivered, or is given up. `status` NULL: there was no answer.
CREATE TABLE webhook_messages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id bigint NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    message_id uuid NOT NULL DEFAULT gen_random_uuid(),
    event text NOT NULL,
    subject text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tries integer NOT NULL DEFAULT 0,
    next_at timestamptz DEFAULT now(),
    tried_at timestamptz,
    delivered_at timestamptz,
    status integer,
    error text,
    CONSTRAINT told_once UNIQUE (webhook_id, event, subject));
CREATE INDEX webhook_messages_latest ON webhook_messages (webhook_id, id DESC);
CREATE INDEX webhook_messages_ended ON webhook_messages (created_at) WHERE next_at IS NULL;
