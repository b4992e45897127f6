-- The keys that sign results.

-- `key_id`: SHA-256 of the public key, in hexadecimal. A retired key's private part is gone, so
-- that nobody signs with it any more; its public part stays, for what it has signed.
CREATE TABLE signing_keys (
    key_id text PRIMARY KEY,
    public_key bytea NOT NULL CHECK (octet_length(public_key) = 32),
    private_key bytea CHECK (octet_length(private_key) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    retired_at timestamptz,
    CONSTRAINT only_a_retired_key_cannot_sign
      CHECK ((private_key IS NULL) = (retired_at IS NOT NULL)));
CREATE UNIQUE INDEX signing_keys_in_use ON signing_keys ((true)) WHERE retired_at IS NULL;
