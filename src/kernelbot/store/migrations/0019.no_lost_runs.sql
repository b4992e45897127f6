-- A run whose attempts were all lost is finished, as an internal error of ours; none has ever been
-- lost itself. The type keeps its value, since Postgres takes none away.
DELETE FROM run_transitions WHERE after = 'lost';

ALTER TABLE runs
    DROP CONSTRAINT ends_have_a_time,
    ADD CONSTRAINT ends_have_a_time CHECK (
        state <> 'lost' AND (finished_at IS NOT NULL) = (state IN ('finished', 'cancelled'))
    );
