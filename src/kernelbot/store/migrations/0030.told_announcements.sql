-- What is still to be told at Discord is found among itself, however much was told before; and what was
-- told long ago by its age, to delete it.

CREATE INDEX deliveries_untold ON deliveries (guild_id, next_at) WHERE delivered_at IS NULL;
CREATE INDEX deliveries_guild ON deliveries (guild_id);
CREATE INDEX announcements_of_news ON announcements (created_at) WHERE kind <> 'board';
-- Servers of the release before ask for what isn't delivered, too, and find it by the new one.
DROP INDEX deliveries_due;
