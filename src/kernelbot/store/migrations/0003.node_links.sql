-- What nodes need to fetch a job and to tell of it: the key of their links; with an attempt what
-- its job was decided to be, and how much of its progress came through a link.

ALTER TABLE platform ADD COLUMN link_key bytea NOT NULL DEFAULT
    sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
    CHECK (octet_length(link_key) = 32);
ALTER TABLE attempts ADD COLUMN terms jsonb,
    ADD COLUMN events_received integer NOT NULL DEFAULT 0;
