-- Rules of boards and problems.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % never changes', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END;
$$;
CREATE TRIGGER problem_versions_immutable BEFORE UPDATE ON problem_versions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Of what judging depends on: the problem's `spec`, as its text is written, and not its texts for people nor
-- the devices that it names. `boards/problem_hashes.py` says the same of what isn't stored; a test compares
-- them.
CREATE FUNCTION judging_hash_of(_definition json) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(convert_to((_definition -> 'spec')::text, 'UTF8'))
$$;

-- A server of the release before counts the list of devices in, so that with another list every ranking
-- would begin anew. This may go with the release after.
CREATE FUNCTION leave_out_devices() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.judging_hash = sha256(convert_to(format(
        '[{"version": %s, %s, %s]', NEW.definition ->> 'version',
        substr((NEW.definition -> 'spec')::text, 2), (NEW.definition -> 'devices')::text
    ), 'UTF8')) THEN
        NEW.judging_hash := judging_hash_of(NEW.definition);
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER problem_versions_devices BEFORE INSERT ON problem_versions
    FOR EACH ROW EXECUTE FUNCTION leave_out_devices();

CREATE FUNCTION is_member(_board bigint, _user bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM invites i JOIN invite_boards b ON b.batch_id = i.batch_id
        WHERE i.user_id = _user AND b.leaderboard_id = _board
    );
$$;

-- What was said of data that recur, by what judging depends on: a corrected text is another version of
-- the problem, and its data recur as before.
CREATE VIEW recurring_problems AS
SELECT DISTINCT ON (v.judging_hash) v.judging_hash, r.said
FROM recurring_data r JOIN problem_versions v ON v.id = r.problem_version_id
ORDER BY v.judging_hash, r.noticed_at;

-- Whether tests are also taken for a processor that the board doesn't offer: a script of the problem's
-- own needs the board's devices, whatever was chosen before it came.
CREATE FUNCTION takes_tries(b leaderboards, v problem_versions) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT b.try_on_cpu AND v.harness <> 'script'
$$;

-- Boards with their problem, and the sizes of their rankings in the order of their devices.
CREATE VIEW shown_boards AS
SELECT
    b.id, b.name, b.description, p.name AS problem_name, b.problem_version_id, v.harness,
    v.ranking_by, b.visibility, b.deadline, b.reveal_code, b.fixed_seed,
    b.refuse_unavailable, takes_tries(b, v) AS try_on_cpu, b.created_at, b.creator_id,
    d.devices, d.authors, d.versions, d.outdated_scores, coalesce(r.said, '') AS recurring_data
FROM leaderboards b
JOIN problem_versions v ON v.id = b.problem_version_id
JOIN problems p ON p.id = v.problem_id
LEFT JOIN recurring_problems r ON r.judging_hash = v.judging_hash
CROSS JOIN LATERAL (
    SELECT array_agg(device ORDER BY position) AS devices,
        array_agg(authors ORDER BY position) AS authors,
        array_agg(version ORDER BY position) AS versions,
        coalesce(sum(outdated), 0) AS outdated_scores
    FROM leaderboard_devices WHERE leaderboard_id = b.id
) d;
