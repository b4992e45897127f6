-- Whether it is a restored copy, which judges nothing and tells nobody until it is activated.

ALTER TABLE platform ADD COLUMN is_copy boolean NOT NULL DEFAULT false;
