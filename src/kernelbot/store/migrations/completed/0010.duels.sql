ALTER TABLE duels ADD COLUMN IF NOT EXISTS refused boolean NOT NULL DEFAULT false;
ALTER TABLE duels DROP CONSTRAINT IF EXISTS only_failed_is_refused;
ALTER TABLE duels ADD CONSTRAINT only_failed_is_refused CHECK (NOT refused OR state = 'failed');
