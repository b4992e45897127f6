--
-- PostgreSQL database dump
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: attempt_state; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.attempt_state AS ENUM (
    'launching',
    'running',
    'finished',
    'lost',
    'returned',
    'cancelled'
);


--
-- Name: board_visibility; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.board_visibility AS ENUM (
    'public',
    'closed'
);


--
-- Name: fault; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.fault AS ENUM (
    'author',
    'platform',
    'scheduler'
);


--
-- Name: limit_category; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.limit_category AS ENUM (
    'test',
    'leaderboard'
);


--
-- Name: phase; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.phase AS ENUM (
    'test',
    'benchmark',
    'leaderboard',
    'profile'
);


--
-- Name: procrastinate_job_event_type; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.procrastinate_job_event_type AS ENUM (
    'deferred',
    'started',
    'deferred_for_retry',
    'failed',
    'succeeded',
    'cancelled',
    'abort_requested',
    'aborted',
    'scheduled',
    'retried'
);


--
-- Name: procrastinate_job_status; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.procrastinate_job_status AS ENUM (
    'todo',
    'doing',
    'succeeded',
    'failed',
    'cancelled',
    'aborting',
    'aborted'
);


--
-- Name: procrastinate_job_to_defer_v1; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.procrastinate_job_to_defer_v1 AS (
	queue_name character varying,
	task_name character varying,
	priority integer,
	lock text,
	queueing_lock text,
	args jsonb,
	scheduled_at timestamp with time zone
);


--
-- Name: review_state; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.review_state AS ENUM (
    'clear',
    'held',
    'refused'
);


--
-- Name: run_state; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.run_state AS ENUM (
    'queued',
    'dispatched',
    'running',
    'finished',
    'lost',
    'cancelled'
);


--
-- Name: run_verdict; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.run_verdict AS ENUM (
    'accepted',
    'compile_error',
    'wrong_answer',
    'runtime_error',
    'time_limit',
    'memory_limit',
    'output_limit',
    'rule_violation',
    'internal_error'
);


--
-- Name: submission_mode; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.submission_mode AS ENUM (
    'test',
    'benchmark',
    'profile',
    'leaderboard'
);


--
-- Name: user_role; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.user_role AS ENUM (
    'competitor',
    'creator',
    'admin'
);


--
-- Name: add_event(bigint, bigint, text, jsonb); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.add_event(_submission bigint, _run bigint, _kind text, _data jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(_submission);
    INSERT INTO events (submission_id, id, run_id, kind, data)
    SELECT _submission, coalesce(max(id), 0) + 1, _run, _kind, _data
    FROM events WHERE submission_id = _submission;
    PERFORM pg_notify('kernelbot_events', _submission::text);
END;
$$;


--
-- Name: add_submission(bigint, bigint, bigint, bytea, text, text, public.submission_mode, text[], boolean, double precision, boolean); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.add_submission(_board bigint, _version bigint, _author bigint, _sha256 bytea, _content text, _file_name text, _mode public.submission_mode, _devices text[], _ranked_first boolean, _fresh_s double precision, _limited boolean) RETURNS TABLE(submission_id bigint, id bigint, device text, secret boolean, created_at timestamp with time zone, waiting integer, line json)
    LANGUAGE plpgsql
    AS $$
DECLARE
    ranked boolean := _mode = 'leaderboard';
BEGIN
    -- The update of nothing holds the row, so that no deletion takes it away meanwhile.
    INSERT INTO sources AS c (sha256, content) VALUES (_sha256, _content)
    ON CONFLICT (sha256) DO UPDATE SET sha256 = excluded.sha256;

    INSERT INTO submissions AS s (
        leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode
    )
    VALUES (_board, _version, _author, _sha256, _file_name, _mode)
    RETURNING s.id INTO submission_id;

    -- Devices in one order: each locks the author's turn. Nobody follows it yet, so nobody is
    -- told, and no other event can be numbered meanwhile.
    WITH added AS (
        INSERT INTO runs AS r (submission_id, device, secret, author_id, priority)
        SELECT submission_id, d, s, _author, ranked::int
        FROM unnest(_devices) d CROSS JOIN unnest(CASE WHEN ranked THEN '{f,t}' ELSE '{f}' END::boolean[]) s
        ORDER BY d, s
        RETURNING r.id
    )
    INSERT INTO events AS e (submission_id, id, run_id, kind, data)
    SELECT submission_id, row_number() OVER (ORDER BY added.id), added.id, 'queued', '{}'
    FROM added;

    line := queue_line(submission_id, _ranked_first, _fresh_s, _limited);
    FOR id, device, secret, created_at, waiting IN
        SELECT r.id, r.device, r.secret, r.created_at, t.waiting
        FROM runs r JOIN queue_turns t ON t.device = r.device AND t.author_id = r.author_id
        WHERE r.submission_id = add_submission.submission_id ORDER BY r.id
    LOOP
        RETURN NEXT;
    END LOOP;
END;
$$;


--
-- Name: announce_turn(text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.announce_turn(_device text) RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_notify('kernelbot_turns', _device);
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: leaderboard_devices; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.leaderboard_devices (
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    "position" integer NOT NULL,
    authors integer DEFAULT 0 NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    outdated integer DEFAULT 0 NOT NULL,
    CONSTRAINT leaderboard_devices_authors_check CHECK ((authors >= 0)),
    CONSTRAINT leaderboard_devices_outdated_check CHECK ((outdated >= 0))
);


--
-- Name: leaderboards; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.leaderboards (
    id bigint NOT NULL,
    competition_id bigint,
    name text NOT NULL,
    description text NOT NULL,
    problem_version_id bigint NOT NULL,
    visibility public.board_visibility NOT NULL,
    deadline timestamp with time zone,
    creator_id bigint NOT NULL,
    secret bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    reveal_code boolean DEFAULT false NOT NULL,
    fixed_seed boolean DEFAULT false NOT NULL,
    CONSTRAINT leaderboards_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64))),
    CONSTRAINT leaderboards_secret_check CHECK ((octet_length(secret) = 32))
);


--
-- Name: problem_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.problem_versions (
    id bigint NOT NULL,
    problem_id bigint NOT NULL,
    content_hash bytea NOT NULL,
    definition json NOT NULL,
    harness text NOT NULL,
    ranking_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    judging_hash bytea NOT NULL,
    lang text GENERATED ALWAYS AS ((definition #>> '{spec,lang}'::text[])) STORED,
    CONSTRAINT judging_hash_is_sha256 CHECK ((octet_length(judging_hash) = 32)),
    CONSTRAINT problem_versions_content_hash_check CHECK ((octet_length(content_hash) = 32)),
    CONSTRAINT problem_versions_harness_check CHECK ((harness = ANY (ARRAY['native'::text, 'script'::text]))),
    CONSTRAINT problem_versions_ranking_by_check CHECK ((ranking_by = ANY (ARRAY['last'::text, 'mean'::text, 'geom'::text])))
);


--
-- Name: rejudges; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rejudges (
    id bigint NOT NULL,
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    problem_version_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    owner text
);


--
-- Name: runs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.runs (
    id bigint NOT NULL,
    submission_id bigint NOT NULL,
    device text NOT NULL,
    secret boolean NOT NULL,
    priority integer NOT NULL,
    state public.run_state DEFAULT 'queued'::public.run_state NOT NULL,
    verdict public.run_verdict,
    fault public.fault,
    message text,
    score_s double precision,
    ci_low_s double precision,
    ci_high_s double precision,
    unverified boolean DEFAULT false NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    author_id bigint,
    ready_at timestamp with time zone,
    rejudge_id bigint,
    CONSTRAINT ends_have_a_time CHECK (((finished_at IS NOT NULL) = (state = ANY (ARRAY['finished'::public.run_state, 'lost'::public.run_state, 'cancelled'::public.run_state])))),
    CONSTRAINT interval_is_whole CHECK ((((ci_low_s IS NULL) = (ci_high_s IS NULL)) AND ((ci_low_s IS NULL) OR ((score_s IS NOT NULL) AND (ci_low_s <= ci_high_s))))),
    CONSTRAINT only_accepted_has_a_score CHECK (((score_s IS NULL) OR ((verdict IS NOT NULL) AND (verdict = 'accepted'::public.run_verdict)))),
    CONSTRAINT only_accepted_has_no_fault CHECK (((fault IS NOT NULL) = ((verdict IS NOT NULL) AND (verdict <> 'accepted'::public.run_verdict)))),
    CONSTRAINT only_finished_has_a_verdict CHECK (((verdict IS NOT NULL) = (state = 'finished'::public.run_state))),
    CONSTRAINT open_has_an_author CHECK (((state <> ALL (ARRAY['queued'::public.run_state, 'dispatched'::public.run_state, 'running'::public.run_state])) OR (author_id IS NOT NULL))),
    CONSTRAINT rejudged_on_secret_data CHECK (((rejudge_id IS NULL) OR secret)),
    CONSTRAINT runs_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT score_is_a_positive_number CHECK (((score_s > (0)::double precision) AND (score_s < 'Infinity'::double precision)))
);


--
-- Name: submissions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.submissions (
    id bigint NOT NULL,
    leaderboard_id bigint NOT NULL,
    problem_version_id bigint NOT NULL,
    author_id bigint NOT NULL,
    source_sha256 bytea NOT NULL,
    file_name text NOT NULL,
    mode public.submission_mode NOT NULL,
    review public.review_state DEFAULT 'clear'::public.review_state NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    review_reason text,
    reviewed_at timestamp with time zone,
    code_sha256 bytea,
    CONSTRAINT review_names_its_reason CHECK (((review = 'clear'::public.review_state) OR (review_reason IS NOT NULL))),
    CONSTRAINT submissions_code_sha256_check CHECK ((octet_length(code_sha256) = 32)),
    CONSTRAINT submissions_file_name_check CHECK (((length(file_name) >= 1) AND (length(file_name) <= 255)))
);


--
-- Name: users; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.users (
    id bigint NOT NULL,
    name text NOT NULL,
    role public.user_role DEFAULT 'competitor'::public.user_role NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    banned_at timestamp with time zone,
    CONSTRAINT users_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64)))
);


--
-- Name: rankable_runs; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.rankable_runs AS
 SELECT s.leaderboard_id,
    r.device,
    s.author_id,
    r.id AS run_id,
    s.id AS submission_id,
    r.score_s,
    COALESCE(r.ci_low_s, r.score_s) AS ci_low_s,
    COALESCE(r.ci_high_s, r.score_s) AS ci_high_s,
    s.created_at AS achieved_at,
    s.source_sha256,
    r.rejudge_id,
    COALESCE(j.created_at, s.created_at) AS measured_at,
    measured.judging_hash,
    s.code_sha256
   FROM ((((((public.submissions s
     JOIN public.users u ON (((u.id = s.author_id) AND (u.banned_at IS NULL))))
     JOIN public.runs r ON (((r.submission_id = s.id) AND r.secret AND (r.state = 'finished'::public.run_state) AND (r.verdict = 'accepted'::public.run_verdict) AND (r.score_s IS NOT NULL))))
     LEFT JOIN public.rejudges j ON ((j.id = r.rejudge_id)))
     JOIN public.problem_versions measured ON ((measured.id = COALESCE(j.problem_version_id, s.problem_version_id))))
     JOIN public.leaderboard_devices offered ON (((offered.leaderboard_id = s.leaderboard_id) AND (offered.device = r.device))))
     JOIN public.runs p ON (((p.submission_id = s.id) AND (p.device = r.device) AND (NOT p.secret) AND (p.state = 'finished'::public.run_state) AND (p.verdict = 'accepted'::public.run_verdict))))
  WHERE ((s.mode = 'leaderboard'::public.submission_mode) AND (s.review = 'clear'::public.review_state) AND ((r.rejudge_id IS NULL) OR (j.finished_at IS NOT NULL)) AND (r.unverified = (measured.harness = 'script'::text)) AND (NOT (EXISTS ( SELECT 1
           FROM public.runs c
          WHERE ((c.submission_id = s.id) AND (c.state = 'cancelled'::public.run_state) AND (c.rejudge_id IS NULL))))) AND (NOT (EXISTS ( SELECT 1
           FROM (public.runs l
             JOIN public.rejudges k ON (((k.id = l.rejudge_id) AND (k.finished_at IS NOT NULL))))
          WHERE ((l.submission_id = s.id) AND (l.device = r.device) AND (l.rejudge_id > COALESCE(r.rejudge_id, (0)::bigint)) AND (l.state = 'finished'::public.run_state) AND ((l.fault IS NULL) OR (l.fault = 'author'::public.fault)))))));


--
-- Name: withdrawn_sources; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.withdrawn_sources (
    leaderboard_id bigint NOT NULL,
    author_id bigint NOT NULL,
    source_sha256 bytea NOT NULL,
    judging_hash bytea NOT NULL,
    device text NOT NULL,
    submission_id bigint NOT NULL,
    code_sha256 bytea,
    score_s double precision,
    CONSTRAINT withdrawn_sources_code_sha256_check CHECK ((octet_length(code_sha256) = 32)),
    CONSTRAINT withdrawn_sources_judging_hash_check CHECK ((octet_length(judging_hash) = 32)),
    CONSTRAINT withdrawn_sources_source_sha256_check CHECK ((octet_length(source_sha256) = 32))
);


--
-- Name: eligible_runs; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.eligible_runs AS
 SELECT r.leaderboard_id,
    r.device,
    r.author_id,
    r.run_id,
    r.submission_id,
    r.score_s,
    r.ci_low_s,
    r.ci_high_s,
    r.achieved_at,
    r.source_sha256,
    r.rejudge_id,
    r.measured_at,
    r.code_sha256
   FROM ((public.rankable_runs r
     JOIN public.leaderboards b ON ((b.id = r.leaderboard_id)))
     JOIN public.problem_versions current ON (((current.id = b.problem_version_id) AND (current.judging_hash = r.judging_hash))))
  WHERE ((NOT (EXISTS ( SELECT 1
           FROM public.withdrawn_sources w
          WHERE ((w.leaderboard_id = r.leaderboard_id) AND (w.author_id = r.author_id) AND (w.source_sha256 = r.source_sha256) AND (w.judging_hash = r.judging_hash) AND (w.device = r.device) AND (w.submission_id < r.submission_id) AND (r.rejudge_id IS NULL))))) AND (NOT (EXISTS ( SELECT 1
           FROM public.withdrawn_sources w
          WHERE ((w.leaderboard_id = r.leaderboard_id) AND (w.author_id = r.author_id) AND (w.code_sha256 = r.code_sha256) AND (w.judging_hash = r.judging_hash) AND (w.device = r.device) AND (w.submission_id < r.submission_id) AND (r.rejudge_id IS NULL))))));


--
-- Name: better_run(public.eligible_runs, public.eligible_runs, boolean); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.better_run(best public.eligible_runs, run public.eligible_runs, again boolean) RETURNS public.eligible_runs
    LANGUAGE plpgsql IMMUTABLE
    AS $$
BEGIN
    IF best.run_id IS NULL
        OR (run.rejudge_id IS NOT NULL AND run.rejudge_id IS DISTINCT FROM best.rejudge_id)
        OR (run.ci_high_s < best.ci_low_s AND NOT again)
    THEN
        RETURN run;
    END IF;
    RETURN best;
END;
$$;


--
-- Name: count_name_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.count_name_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE leaderboard_devices d SET version = version + 1
    FROM standings s
    WHERE s.author_id = NEW.id AND d.leaderboard_id = s.leaderboard_id AND d.device = s.device;
    RETURN NULL;
END;
$$;


--
-- Name: count_standings_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.count_standings_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE leaderboard_devices d SET version = version + 1
    FROM (SELECT DISTINCT leaderboard_id, device FROM changed) c
    WHERE d.leaderboard_id = c.leaderboard_id AND d.device = c.device;
    RETURN NULL;
END;
$$;


--
-- Name: count_turn(public.runs, integer, integer); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.count_turn(_run public.runs, _waits integer, _works integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    ranked integer := CASE WHEN _run.priority > 0 THEN _waits ELSE 0 END;
BEGIN
    UPDATE queue_turns
    SET waiting = waiting + _waits, waiting_ranked = waiting_ranked + ranked,
        running = running + _works
    WHERE device = _run.device AND author_id = _run.author_id;
    IF NOT FOUND AND _waits + _works > 0 THEN
        INSERT INTO queue_turns AS t (device, author_id, waiting, waiting_ranked, running)
        VALUES (_run.device, _run.author_id, _waits, ranked, _works)
        ON CONFLICT (device, author_id) DO UPDATE
        SET waiting = t.waiting + excluded.waiting,
            waiting_ranked = t.waiting_ranked + excluded.waiting_ranked,
            running = t.running + excluded.running;
    END IF;
END;
$$;


--
-- Name: guard_review_transition(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.guard_review_transition() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM review_transitions WHERE before = OLD.review AND after = NEW.review
    ) THEN
        RAISE EXCEPTION 'submission % can''t go from % to %', OLD.id, OLD.review, NEW.review
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END;
$$;


--
-- Name: guard_run_transition(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.guard_run_transition() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM run_transitions WHERE before = OLD.state AND after = NEW.state) THEN
        RAISE EXCEPTION 'run % can''t go from % to %', OLD.id, OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END;
$$;


--
-- Name: has_outdated(bigint, text, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.has_outdated(_board bigint, _device text, _author bigint) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT EXISTS (
        SELECT 1 FROM rankable_runs r
        JOIN leaderboards b ON b.id = r.leaderboard_id
        JOIN problem_versions current ON current.id = b.problem_version_id
            AND current.judging_hash <> r.judging_hash
        WHERE r.leaderboard_id = _board AND r.device = _device AND r.author_id = _author
    );
$$;


--
-- Name: is_member(bigint, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.is_member(_board bigint, _user bigint) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT EXISTS (
        SELECT 1 FROM invites i JOIN invite_boards b ON b.batch_id = i.batch_id
        WHERE i.user_id = _user AND b.leaderboard_id = _board
    );
$$;


--
-- Name: keep_turns(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.keep_turns() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    waits integer := 0;
    works integer := 0;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        waits := waits - (OLD.state = 'queued')::int;
        works := works - (OLD.state IN ('dispatched', 'running'))::int;
    END IF;
    IF TG_OP = 'DELETE' THEN
        PERFORM count_turn(OLD, waits, works);
        PERFORM announce_turn(OLD.device);
        RETURN NULL;
    END IF;
    waits := waits + (NEW.state = 'queued')::int;
    works := works + (NEW.state IN ('dispatched', 'running'))::int;
    IF waits <> 0 OR works <> 0 THEN
        PERFORM count_turn(NEW, waits, works);
    END IF;
    IF waits > 0 OR works < 0 THEN
        PERFORM announce_turn(NEW.device);
    END IF;
    RETURN NULL;
END;
$$;


--
-- Name: mark_leaders(bigint, text, double precision, timestamp with time zone, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.mark_leaders(_board bigint, _device text, _score_s double precision, _at timestamp with time zone, _author bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    leader_high_s double precision;
    place record;
    should_lead boolean;
BEGIN
    SELECT ci_high_s INTO leader_high_s FROM standings
    WHERE leaderboard_id = _board AND device = _device AND leads
        AND (score_s, achieved_at, author_id) < (_score_s, _at, _author)
    ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1;

    FOR place IN
        SELECT author_id, ci_low_s, ci_high_s, leads,
            (score_s, achieved_at, author_id) > (_score_s, _at, _author) AS past
        FROM standings
        WHERE leaderboard_id = _board AND device = _device
            AND (score_s, achieved_at, author_id) >= (_score_s, _at, _author)
        ORDER BY score_s, achieved_at, author_id
    LOOP
        should_lead := leader_high_s IS NULL OR place.ci_low_s > leader_high_s;
        EXIT WHEN should_lead AND place.leads AND place.past;
        IF should_lead <> place.leads THEN
            UPDATE standings SET leads = should_lead
            WHERE leaderboard_id = _board AND device = _device AND author_id = place.author_id;
        END IF;
        IF should_lead THEN
            leader_high_s := place.ci_high_s;
        END IF;
    END LOOP;
END;
$$;


--
-- Name: name_run_author(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.name_run_author() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.author_id IS NULL THEN
        SELECT author_id, (mode = 'leaderboard')::int INTO NEW.author_id, NEW.priority
        FROM submissions WHERE id = NEW.submission_id;
    END IF;
    RETURN NEW;
END;
$$;


--
-- Name: next_rejudged_run(text, text, double precision); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.next_rejudged_run(_device text, _owner text, _stale_s double precision) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    stale interval := make_interval(secs => _stale_s);
    open_id bigint;
    found_id bigint;
BEGIN
    FOR open_id IN
        SELECT id FROM rejudges WHERE device = _device AND finished_at IS NULL ORDER BY id
    LOOP
        UPDATE rejudges SET owner = _owner
        WHERE id = open_id AND (
            owner IS NULL OR owner = _owner OR NOT EXISTS (
                -- A heartbeat from the future is of before the clock was put back.
                SELECT 1 FROM workers w
                WHERE w.owner = rejudges.owner
                    AND w.heartbeat_at BETWEEN now() - stale AND now() + stale
            )
        );
        CONTINUE WHEN NOT FOUND;
        SELECT id INTO found_id FROM runs
        WHERE rejudge_id = open_id AND state = 'queued'
            -- No pause is that long: then the clock was put back.
            AND (ready_at IS NULL OR ready_at NOT BETWEEN now() AND now() + interval '1 minute')
        ORDER BY id LIMIT 1
        FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            RETURN found_id;
        END IF;
    END LOOP;
    RETURN NULL;
END;
$$;


--
-- Name: next_run(text, integer, boolean); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.next_run(_device text, _running_limit integer, _ranked_first boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    ranked boolean;
    turn record;
    found_id bigint;
BEGIN
    FOREACH ranked IN ARRAY CASE WHEN _ranked_first THEN '{t,f}' ELSE '{f}' END::boolean[] LOOP
        FOR turn IN
            SELECT author_id FROM queue_turns
            WHERE device = _device AND waits AND (NOT ranked OR waiting_ranked > 0)
            ORDER BY CASE WHEN ranked THEN last_ranked_turn ELSE last_turn END, author_id
        LOOP
            PERFORM 1 FROM queue_turns
            WHERE device = _device AND author_id = turn.author_id AND waits
                AND (_running_limit IS NULL OR running < _running_limit)
            FOR NO KEY UPDATE;
            CONTINUE WHEN NOT FOUND;
            SELECT id INTO found_id FROM runs
            WHERE device = _device AND author_id = turn.author_id AND state = 'queued'
                AND rejudge_id IS NULL AND (NOT ranked OR priority > 0)
                -- No pause is that long: then the clock was put back.
                AND (ready_at IS NULL OR ready_at NOT BETWEEN now() AND now() + interval '1 minute')
            ORDER BY id LIMIT 1
            FOR UPDATE SKIP LOCKED;
            IF FOUND THEN
                UPDATE queue_turns
                SET last_turn = CASE WHEN ranked THEN last_turn
                        ELSE nextval('queue_turn_numbers') END,
                    last_ranked_turn = CASE WHEN ranked THEN nextval('queue_turn_numbers')
                        ELSE last_ranked_turn END
                WHERE device = _device AND author_id = turn.author_id;
                RETURN found_id;
            END IF;
        END LOOP;
    END LOOP;
    RETURN NULL;
END;
$$;


--
-- Name: procrastinate_cancel_job_v1(bigint, boolean, boolean); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_cancel_job_v1(job_id bigint, abort boolean, delete_job boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
BEGIN
    IF delete_job THEN
        DELETE FROM procrastinate_jobs
        WHERE id = job_id AND status = 'todo'
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        IF abort THEN
            UPDATE procrastinate_jobs
            SET abort_requested = true,
                status = CASE status
                    WHEN 'todo' THEN 'cancelled'::procrastinate_job_status ELSE status
                END
            WHERE id = job_id AND status IN ('todo', 'doing')
            RETURNING id INTO _job_id;
        ELSE
            UPDATE procrastinate_jobs
            SET status = 'cancelled'::procrastinate_job_status
            WHERE id = job_id AND status = 'todo'
            RETURNING id INTO _job_id;
        END IF;
    END IF;
    RETURN _job_id;
END;
$$;


--
-- Name: procrastinate_defer_jobs_v1(public.procrastinate_job_to_defer_v1[]); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_defer_jobs_v1(jobs public.procrastinate_job_to_defer_v1[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    job_ids bigint[];
BEGIN
    WITH inserted_jobs AS (
        INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)
        SELECT (job).queue_name,
               (job).task_name,
               (job).priority,
               (job).lock,
               (job).queueing_lock,
               (job).args,
               (job).scheduled_at
        FROM unnest(jobs) AS job
        RETURNING id
    )
    SELECT array_agg(id) FROM inserted_jobs INTO job_ids;

    RETURN job_ids;
END;
$$;


--
-- Name: procrastinate_defer_periodic_job_v2(character varying, character varying, character varying, character varying, integer, character varying, bigint, jsonb); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_defer_periodic_job_v2(_queue_name character varying, _lock character varying, _queueing_lock character varying, _task_name character varying, _priority integer, _periodic_id character varying, _defer_timestamp bigint, _args jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
	_job_id bigint;
	_defer_id bigint;
BEGIN
    INSERT
        INTO procrastinate_periodic_defers (task_name, periodic_id, defer_timestamp)
        VALUES (_task_name, _periodic_id, _defer_timestamp)
        ON CONFLICT DO NOTHING
        RETURNING id into _defer_id;

    IF _defer_id IS NULL THEN
        RETURN NULL;
    END IF;

    UPDATE procrastinate_periodic_defers
        SET job_id = (
            SELECT COALESCE((
                SELECT unnest(procrastinate_defer_jobs_v1(
                    ARRAY[
                        ROW(
                            _queue_name,
                            _task_name,
                            _priority,
                            _lock,
                            _queueing_lock,
                            _args,
                            NULL::timestamptz
                        )
                    ]::procrastinate_job_to_defer_v1[]
                ))
            ), NULL)
        )
        WHERE id = _defer_id
        RETURNING job_id INTO _job_id;

    DELETE
        FROM procrastinate_periodic_defers
        USING (
            SELECT id
            FROM procrastinate_periodic_defers
            WHERE procrastinate_periodic_defers.task_name = _task_name
            AND procrastinate_periodic_defers.periodic_id = _periodic_id
            AND procrastinate_periodic_defers.defer_timestamp < _defer_timestamp
            ORDER BY id
            FOR UPDATE
        ) to_delete
        WHERE procrastinate_periodic_defers.id = to_delete.id;

    RETURN _job_id;
END;
$$;


--
-- Name: procrastinate_jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.procrastinate_jobs (
    id bigint NOT NULL,
    queue_name character varying(128) NOT NULL,
    task_name character varying(128) NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    lock text,
    queueing_lock text,
    args jsonb DEFAULT '{}'::jsonb NOT NULL,
    status public.procrastinate_job_status DEFAULT 'todo'::public.procrastinate_job_status NOT NULL,
    scheduled_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    abort_requested boolean DEFAULT false NOT NULL,
    worker_id bigint,
    CONSTRAINT check_not_todo_abort_requested CHECK ((NOT ((status = 'todo'::public.procrastinate_job_status) AND (abort_requested = true))))
);


--
-- Name: procrastinate_fetch_job_v2(character varying[], bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_fetch_job_v2(target_queue_names character varying[], p_worker_id bigint) RETURNS public.procrastinate_jobs
    LANGUAGE plpgsql
    AS $$
DECLARE
	found_jobs procrastinate_jobs;
BEGIN
    WITH candidate AS (
        SELECT jobs.*
            FROM procrastinate_jobs AS jobs
            WHERE
                -- reject the job if its lock has earlier or higher priority jobs
                NOT EXISTS (
                    SELECT 1
                        FROM procrastinate_jobs AS other_jobs
                        WHERE
                            jobs.lock IS NOT NULL
                            AND other_jobs.lock = jobs.lock
                            AND (
                                -- job with same lock is already running
                                other_jobs.status = 'doing'
                                OR
                                -- job with same lock is waiting and has higher priority (or same priority but was queued first)
                                (
                                    other_jobs.status = 'todo'
                                    AND (
                                        other_jobs.priority > jobs.priority
                                        OR (
                                        other_jobs.priority = jobs.priority
                                        AND other_jobs.id < jobs.id
                                        )
                                    )
                                )
                            )
                )
                AND jobs.status = 'todo'
                AND (target_queue_names IS NULL OR jobs.queue_name = ANY( target_queue_names ))
                AND (jobs.scheduled_at IS NULL OR jobs.scheduled_at <= now())
            ORDER BY jobs.priority DESC, jobs.id ASC LIMIT 1
            FOR UPDATE OF jobs SKIP LOCKED
    )
    UPDATE procrastinate_jobs
        SET status = 'doing', worker_id = p_worker_id
        FROM candidate
        WHERE procrastinate_jobs.id = candidate.id
        RETURNING procrastinate_jobs.* INTO found_jobs;

 RETURN found_jobs;
END;
$$;


--
-- Name: procrastinate_finish_job_v1(bigint, public.procrastinate_job_status, boolean); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_finish_job_v1(job_id bigint, end_status public.procrastinate_job_status, delete_job boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
BEGIN
    IF end_status NOT IN ('succeeded', 'failed', 'aborted') THEN
        RAISE 'End status should be either "succeeded", "failed" or "aborted" (job id: %)', job_id;
    END IF;
    IF delete_job THEN
        DELETE FROM procrastinate_jobs
        WHERE id = job_id AND status IN ('todo', 'doing')
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = end_status,
            abort_requested = false,
            attempts = CASE status
                WHEN 'doing' THEN attempts + 1 ELSE attempts
            END
        WHERE id = job_id AND status IN ('todo', 'doing')
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        RAISE 'Job was not found or not in "doing" or "todo" status (job id: %)', job_id;
    END IF;
END;
$$;


--
-- Name: procrastinate_notify_queue_abort_job_v1(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_notify_queue_abort_job_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    payload TEXT;
BEGIN
    SELECT json_build_object('type', 'abort_job_requested', 'job_id', NEW.id)::text INTO payload;
	PERFORM pg_notify('procrastinate_queue_v1#' || NEW.queue_name, payload);
	PERFORM pg_notify('procrastinate_any_queue_v1', payload);
	RETURN NEW;
END;
$$;


--
-- Name: procrastinate_notify_queue_job_inserted_v1(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_notify_queue_job_inserted_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    payload TEXT;
BEGIN
    SELECT json_build_object('type', 'job_inserted', 'job_id', NEW.id)::text INTO payload;
	PERFORM pg_notify('procrastinate_queue_v1#' || NEW.queue_name, payload);
	PERFORM pg_notify('procrastinate_any_queue_v1', payload);
	RETURN NEW;
END;
$$;


--
-- Name: procrastinate_prune_stalled_workers_v1(double precision); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_prune_stalled_workers_v1(seconds_since_heartbeat double precision) RETURNS TABLE(worker_id bigint)
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN QUERY
    DELETE FROM procrastinate_workers
    WHERE last_heartbeat < NOW() - (seconds_since_heartbeat || 'SECOND')::INTERVAL
    RETURNING procrastinate_workers.id;
END;
$$;


--
-- Name: procrastinate_register_worker_v1(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_register_worker_v1() RETURNS TABLE(worker_id bigint)
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN QUERY
    INSERT INTO procrastinate_workers DEFAULT VALUES
    RETURNING procrastinate_workers.id;
END;
$$;


--
-- Name: procrastinate_retry_job_v1(bigint, timestamp with time zone, integer, character varying, character varying); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_retry_job_v1(job_id bigint, retry_at timestamp with time zone, new_priority integer, new_queue_name character varying, new_lock character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
    _abort_requested boolean;
BEGIN
    SELECT abort_requested FROM procrastinate_jobs
    WHERE id = job_id AND status = 'doing'
    FOR UPDATE
    INTO _abort_requested;
    IF _abort_requested THEN
        UPDATE procrastinate_jobs
        SET status = 'failed'::procrastinate_job_status
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = 'todo'::procrastinate_job_status,
            attempts = attempts + 1,
            scheduled_at = retry_at,
            priority = COALESCE(new_priority, priority),
            queue_name = COALESCE(new_queue_name, queue_name),
            lock = COALESCE(new_lock, lock)
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    END IF;

    IF _job_id IS NULL THEN
        RAISE 'Job was not found or not in "doing" status (job id: %)', job_id;
    END IF;
END;
$$;


--
-- Name: procrastinate_retry_job_v2(bigint, timestamp with time zone, integer, character varying, character varying); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_retry_job_v2(job_id bigint, retry_at timestamp with time zone, new_priority integer, new_queue_name character varying, new_lock character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
    _abort_requested boolean;
    _current_status procrastinate_job_status;
BEGIN
    SELECT status, abort_requested FROM procrastinate_jobs
    WHERE id = job_id AND status IN ('doing', 'failed')
    FOR UPDATE
    INTO _current_status, _abort_requested;
    IF _current_status = 'doing' AND _abort_requested THEN
        UPDATE procrastinate_jobs
        SET status = 'failed'::procrastinate_job_status
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = 'todo'::procrastinate_job_status,
            attempts = attempts + 1,
            scheduled_at = retry_at,
            priority = COALESCE(new_priority, priority),
            queue_name = COALESCE(new_queue_name, queue_name),
            lock = COALESCE(new_lock, lock)
        WHERE id = job_id AND status IN ('doing', 'failed')
        RETURNING id INTO _job_id;
    END IF;

    IF _job_id IS NULL THEN
        RAISE 'Job was not found or has an invalid status to retry (job id: %)', job_id;
    END IF;

END;
$$;


--
-- Name: procrastinate_trigger_abort_requested_events_procedure_v1(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_trigger_abort_requested_events_procedure_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type)
        VALUES (NEW.id, 'abort_requested'::procrastinate_job_event_type);
    RETURN NEW;
END;
$$;


--
-- Name: procrastinate_trigger_function_scheduled_events_v1(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_trigger_function_scheduled_events_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type, at)
        VALUES (NEW.id, 'scheduled'::procrastinate_job_event_type, NEW.scheduled_at);

	RETURN NEW;
END;
$$;


--
-- Name: procrastinate_trigger_function_status_events_insert_v1(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_trigger_function_status_events_insert_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type)
        VALUES (NEW.id, 'deferred'::procrastinate_job_event_type);
	RETURN NEW;
END;
$$;


--
-- Name: procrastinate_trigger_function_status_events_update_v1(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_trigger_function_status_events_update_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    WITH t AS (
        SELECT CASE
            WHEN OLD.status = 'todo'::procrastinate_job_status
                AND NEW.status = 'doing'::procrastinate_job_status
                THEN 'started'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'todo'::procrastinate_job_status
                THEN 'deferred_for_retry'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'failed'::procrastinate_job_status
                THEN 'failed'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'succeeded'::procrastinate_job_status
                THEN 'succeeded'::procrastinate_job_event_type
            WHEN OLD.status = 'todo'::procrastinate_job_status
                AND (
                    NEW.status = 'cancelled'::procrastinate_job_status
                    OR NEW.status = 'failed'::procrastinate_job_status
                    OR NEW.status = 'succeeded'::procrastinate_job_status
                )
                THEN 'cancelled'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'aborted'::procrastinate_job_status
                THEN 'aborted'::procrastinate_job_event_type
            WHEN OLD.status = 'failed'::procrastinate_job_status
                AND NEW.status = 'todo'::procrastinate_job_status
                THEN 'retried'::procrastinate_job_event_type
            ELSE NULL
        END as event_type
    )
    INSERT INTO procrastinate_events(job_id, type)
        SELECT NEW.id, t.event_type
        FROM t
        WHERE t.event_type IS NOT NULL;
	RETURN NEW;
END;
$$;


--
-- Name: procrastinate_unlink_periodic_defers_v1(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_unlink_periodic_defers_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE procrastinate_periodic_defers
    SET job_id = NULL
    WHERE job_id = OLD.id;
    RETURN OLD;
END;
$$;


--
-- Name: procrastinate_unregister_worker_v1(bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_unregister_worker_v1(worker_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM procrastinate_workers
    WHERE id = worker_id;
END;
$$;


--
-- Name: procrastinate_update_heartbeat_v1(bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.procrastinate_update_heartbeat_v1(worker_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE procrastinate_workers
    SET last_heartbeat = NOW()
    WHERE id = worker_id;
END;
$$;


--
-- Name: queue_line(bigint, boolean, double precision, boolean); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.queue_line(_submission bigint, _ranked_first boolean, _fresh_s double precision, _limited boolean) RETURNS json
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    next record;
    fresh interval := make_interval(secs => _fresh_s);
    running bigint;
    own_running bigint;
    own_before bigint;
    others bigint := 0;
    workers bigint;
    mean_s double precision;
BEGIN
    -- Its runs first: by statistics of an emptier hour all that waits looks like as little to read.
    WITH its AS MATERIALIZED (SELECT r.* FROM runs r WHERE r.submission_id = _submission)
    SELECT its.id, its.device, its.author_id, queue_position(its.id, _ranked_first) AS place
    INTO next
    FROM its WHERE its.state = 'queued' AND its.rejudge_id IS NULL
    ORDER BY place LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT count(*), count(*) FILTER (WHERE r.author_id = next.author_id)
    INTO running, own_running
    FROM runs r WHERE r.device = next.device AND r.state IN ('dispatched', 'running');
    SELECT t.waiting - 1 - (
            SELECT count(*) FROM runs r
            WHERE r.device = next.device AND r.author_id = next.author_id AND r.state = 'queued'
                AND r.priority IN (0, 1) AND r.id > next.id
        )
    INTO own_before
    FROM queue_turns t WHERE t.device = next.device AND t.author_id = next.author_id;
    IF _limited THEN
        SELECT coalesce(sum(t.waiting), 0) INTO others
        FROM queue_turns t
        WHERE t.device = next.device AND t.author_id <> next.author_id AND t.waits;
    END IF;
    SELECT count(*) INTO workers
    FROM worker_devices d JOIN workers w ON w.owner = d.owner
    WHERE d.device = next.device AND d.available
        AND w.heartbeat_at BETWEEN now() - fresh AND now() + fresh;
    SELECT avg(greatest(extract(epoch FROM lately.finished_at - lately.started_at), 0))
    INTO mean_s
    FROM (
        SELECT r.finished_at, r.started_at FROM runs r
        WHERE r.device = next.device AND r.state = 'finished' AND r.started_at IS NOT NULL
        ORDER BY r.finished_at DESC LIMIT 50
    ) lately;
    RETURN json_build_object(
        'device', next.device, 'position', next.place, 'running', running,
        'own_running', own_running, 'own_before', own_before, 'others', others,
        'workers', workers, 'mean_s', mean_s
    );
END;
$$;


--
-- Name: queue_position(bigint, boolean); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.queue_position(_run bigint, _ranked_first boolean) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    own record;
    round bigint;
    before_it bigint;
BEGIN
    SELECT r.device, r.author_id, r.priority > 0 AS ranked,
        CASE WHEN _ranked_first AND r.priority > 0 THEN t.last_ranked_turn
            ELSE t.last_turn END AS last_turn,
        CASE WHEN NOT _ranked_first THEN t.waiting
            WHEN r.priority > 0 THEN t.waiting_ranked
            ELSE t.waiting - t.waiting_ranked END AS waiting,
        CASE WHEN NOT _ranked_first THEN '{0,1}' ELSE ARRAY[r.priority] END::integer[] AS priorities
    INTO own
    FROM runs r JOIN queue_turns t ON t.device = r.device AND t.author_id = r.author_id
    WHERE r.id = _run AND r.state = 'queued';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT own.waiting - count(*) INTO round FROM runs r
    WHERE r.device = own.device AND r.author_id = own.author_id AND r.state = 'queued'
        AND r.priority = ANY(own.priorities) AND r.id > _run;
    SELECT coalesce(sum(
        CASE WHEN t.author_id = own.author_id THEN 0
            ELSE least(
                CASE WHEN NOT _ranked_first THEN t.waiting
                    WHEN own.ranked THEN t.waiting_ranked
                    ELSE t.waiting - t.waiting_ranked END,
                round - 1
                    + ((
                        CASE WHEN _ranked_first AND own.ranked THEN t.last_ranked_turn
                            ELSE t.last_turn END,
                        t.author_id
                    ) < (own.last_turn, own.author_id))::int
            ) END
        + CASE WHEN _ranked_first AND NOT own.ranked THEN t.waiting_ranked ELSE 0 END
    ), 0) INTO before_it
    FROM queue_turns t WHERE t.device = own.device AND t.waits;
    RETURN round + before_it;
END;
$$;


--
-- Name: rebuild_board_standings(bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.rebuild_board_standings(_board bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    place record;
BEGIN
    PERFORM 1 FROM leaderboard_devices WHERE leaderboard_id = _board
    ORDER BY device FOR NO KEY UPDATE;
    DELETE FROM standings WHERE leaderboard_id = _board;
    INSERT INTO standings
    SELECT leaderboard_id, device, author_id, run_id, submission_id, score_s,
        ci_low_s, ci_high_s, achieved_at, false
    FROM standing_runs
    WHERE leaderboard_id = _board;
    FOR place IN SELECT device FROM leaderboard_devices WHERE leaderboard_id = _board LOOP
        PERFORM mark_leaders(_board, place.device, '-Infinity', '-infinity', 0);
        PERFORM recount_authors(_board, place.device);
    END LOOP;
END;
$$;


--
-- Name: rebuild_standings(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.rebuild_standings() RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    board record;
BEGIN
    PERFORM 1 FROM leaderboard_devices ORDER BY leaderboard_id, device FOR NO KEY UPDATE;
    DELETE FROM standings;
    INSERT INTO standings
    SELECT leaderboard_id, device, author_id, run_id, submission_id, score_s,
        ci_low_s, ci_high_s, achieved_at, false
    FROM standing_runs;
    FOR board IN SELECT leaderboard_id, device FROM leaderboard_devices LOOP
        PERFORM mark_leaders(board.leaderboard_id, board.device, '-Infinity', '-infinity', 0);
        PERFORM recount_authors(board.leaderboard_id, board.device);
    END LOOP;
END;
$$;


--
-- Name: recount_authors(bigint, text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.recount_authors(_board bigint, _device text) RETURNS void
    LANGUAGE sql
    AS $$
    UPDATE leaderboard_devices
    SET authors = (
            SELECT count(*) FROM standings WHERE leaderboard_id = _board AND device = _device
        ),
        outdated = (
            SELECT count(DISTINCT r.author_id) FROM rankable_runs r
            JOIN leaderboards b ON b.id = r.leaderboard_id
            JOIN problem_versions current ON current.id = b.problem_version_id
                AND current.judging_hash <> r.judging_hash
            WHERE r.leaderboard_id = _board AND r.device = _device AND NOT EXISTS (
                SELECT 1 FROM standings s
                WHERE s.leaderboard_id = _board AND s.device = _device
                    AND s.author_id = r.author_id
            )
        )
    WHERE leaderboard_id = _board AND device = _device;
$$;


--
-- Name: refresh_standing(bigint, text, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refresh_standing(_board bigint, _device text, _author bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    old standings%ROWTYPE;
    best standing_runs%ROWTYPE;
    comes integer;
BEGIN
    PERFORM 1 FROM leaderboard_devices
    WHERE leaderboard_id = _board AND device = _device FOR NO KEY UPDATE;

    SELECT * INTO best FROM standing_runs
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author;
    SELECT * INTO old FROM standings
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author;

    IF old.run_id IS NOT DISTINCT FROM best.run_id AND old.score_s IS NOT DISTINCT FROM best.score_s THEN
        RETURN;
    END IF;
    IF old.run_id IS NOT NULL THEN
        DELETE FROM standings
        WHERE leaderboard_id = _board AND device = _device AND author_id = _author;
        PERFORM mark_leaders(_board, _device, old.score_s, old.achieved_at, _author);
    END IF;
    IF best.run_id IS NOT NULL THEN
        INSERT INTO standings VALUES (
            _board, _device, _author, best.run_id, best.submission_id, best.score_s,
            best.ci_low_s, best.ci_high_s, best.achieved_at, false
        );
        PERFORM mark_leaders(_board, _device, best.score_s, best.achieved_at, _author);
    END IF;
    IF (best.run_id IS NULL) <> (old.run_id IS NULL) THEN
        comes := CASE WHEN best.run_id IS NULL THEN -1 ELSE 1 END;
        UPDATE leaderboard_devices
        SET authors = authors + comes,
            outdated = greatest(
                outdated - comes * has_outdated(_board, _device, _author)::int, 0
            )
        WHERE leaderboard_id = _board AND device = _device;
    END IF;
END;
$$;


--
-- Name: refuse_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'a row of % never changes', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END;
$$;


--
-- Name: standing_rank(bigint, text, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.standing_rank(_board bigint, _device text, _author bigint) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
    SELECT 1 + (
        SELECT count(*) FROM standings before
        WHERE before.leaderboard_id = _board AND before.device = _device
            AND (before.score_s, before.achieved_at, before.author_id)
                < (leader.score_s, leader.achieved_at, leader.author_id)
    )
    FROM standings own
    CROSS JOIN LATERAL (
        SELECT score_s, achieved_at, author_id FROM standings
        WHERE leaderboard_id = _board AND device = _device AND leads
            AND (score_s, achieved_at, author_id) <= (own.score_s, own.achieved_at, own.author_id)
        ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1
    ) leader
    WHERE own.leaderboard_id = _board AND own.device = _device AND own.author_id = _author;
$$;


--
-- Name: standings_page(bigint, text, bigint, bigint, double precision, timestamp with time zone, bigint, bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.standings_page(_board bigint, _device text, _limit bigint, _before bigint, _score_s double precision, _at timestamp with time zone, _author bigint, _skip bigint) RETURNS TABLE(version bigint, rank bigint, author_id bigint, author text, score_s double precision, ci_low_s double precision, ci_high_s double precision, submission_id bigint, file_name text, achieved_at timestamp with time zone, unverified boolean)
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH page AS (
        SELECT author_id, run_id, submission_id, score_s, achieved_at, leads,
            _before + _skip + row_number() OVER (ORDER BY score_s, achieved_at, author_id) AS position
        FROM (
            SELECT * FROM standings
            WHERE leaderboard_id = _board AND device = _device
                AND (score_s, achieved_at, author_id) >= (_score_s, _at, _author)
            ORDER BY score_s, achieved_at, author_id
            LIMIT _limit OFFSET _skip
        ) rows
    ), head AS (
        -- Whoever leads the first row stands before it by as many as lie between them.
        SELECT first.position - (
            SELECT count(*) FROM standings between_them
            WHERE between_them.leaderboard_id = _board AND between_them.device = _device
                AND (between_them.score_s, between_them.achieved_at, between_them.author_id)
                    >= (leader.score_s, leader.achieved_at, leader.author_id)
                AND (between_them.score_s, between_them.achieved_at, between_them.author_id)
                    < (first.score_s, first.achieved_at, first.author_id)
        ) AS rank
        FROM (SELECT * FROM page ORDER BY position LIMIT 1) first
        CROSS JOIN LATERAL (
            SELECT score_s, achieved_at, author_id FROM standings
            WHERE leaderboard_id = _board AND device = _device AND leads
                AND (score_s, achieved_at, author_id)
                    <= (first.score_s, first.achieved_at, first.author_id)
            ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1
        ) leader
    )
    SELECT d.version,
        coalesce(
            max(CASE WHEN page.leads THEN page.position END) OVER (ORDER BY page.position),
            head.rank
        ),
        page.author_id, u.name, page.score_s, r.ci_low_s, r.ci_high_s, page.submission_id,
        s.file_name, page.achieved_at, r.unverified
    FROM page
    CROSS JOIN (SELECT rank FROM head LIMIT 1) head
    CROSS JOIN LATERAL (SELECT name FROM users WHERE id = page.author_id LIMIT 1) u
    CROSS JOIN LATERAL (SELECT file_name FROM submissions WHERE id = page.submission_id LIMIT 1) s
    CROSS JOIN LATERAL (
        SELECT ci_low_s, ci_high_s, unverified FROM runs WHERE id = page.run_id LIMIT 1
    ) r
    JOIN leaderboard_devices d ON d.leaderboard_id = _board AND d.device = _device
    ORDER BY page.position;
END;
$$;


--
-- Name: use_limit(bigint, bigint, public.limit_category, integer); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.use_limit(_board bigint, _author bigint, _category public.limit_category, _max integer) RETURNS double precision
    LANGUAGE plpgsql
    AS $$
DECLARE
    oldest timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(
        hashtextextended('limit:' || _board || ':' || _author || ':' || _category, 0)
    );
    -- What lies ahead is of before the clock was put back: nobody waits for it.
    DELETE FROM rate_uses
    WHERE leaderboard_id = _board AND author_id = _author AND category = _category
        AND (
            used_at <= clock_timestamp() - interval '1 hour'
            OR used_at > clock_timestamp() + interval '1 minute'
        );
    -- The wait is that for the oldest of the last `_max` to be an hour old.
    SELECT used_at INTO oldest FROM rate_uses
    WHERE leaderboard_id = _board AND author_id = _author AND category = _category
    ORDER BY used_at DESC OFFSET _max - 1 LIMIT 1;
    IF FOUND THEN
        RETURN extract(epoch FROM oldest + interval '1 hour' - clock_timestamp());
    END IF;
    INSERT INTO rate_uses (leaderboard_id, author_id, category, used_at)
    VALUES (_board, _author, _category, clock_timestamp());
    RETURN NULL;
END;
$$;


--
-- Name: best_run_of(public.eligible_runs, boolean); Type: AGGREGATE; Schema: public; Owner: -
--

CREATE AGGREGATE public.best_run_of(run public.eligible_runs, again boolean) (
    SFUNC = public.better_run,
    STYPE = public.eligible_runs
);


--
-- Name: _yoyo_log; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public._yoyo_log (
    id character varying(36) NOT NULL,
    migration_hash character varying(64),
    migration_id character varying(255),
    operation character varying(10),
    username character varying(255),
    hostname character varying(255),
    comment character varying(255),
    created_at_utc timestamp without time zone
);


--
-- Name: _yoyo_migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public._yoyo_migration (
    migration_hash character varying(64) NOT NULL,
    migration_id character varying(255),
    applied_at_utc timestamp without time zone
);


--
-- Name: _yoyo_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public._yoyo_version (
    version integer NOT NULL,
    installed_at_utc timestamp without time zone
);


--
-- Name: artifacts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.artifacts (
    run_id bigint NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL
);


--
-- Name: attempts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.attempts (
    id bigint NOT NULL,
    run_id bigint NOT NULL,
    number integer NOT NULL,
    state public.attempt_state DEFAULT 'launching'::public.attempt_state NOT NULL,
    launcher text NOT NULL,
    owner text NOT NULL,
    handle text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    result jsonb,
    failure text,
    takeovers integer DEFAULT 0 NOT NULL,
    CONSTRAINT attempts_number_check CHECK ((number >= 1)),
    CONSTRAINT finished_has_a_result CHECK (((state <> 'finished'::public.attempt_state) OR (result IS NOT NULL))),
    CONSTRAINT open_has_no_end CHECK (((ended_at IS NULL) = (state = ANY (ARRAY['launching'::public.attempt_state, 'running'::public.attempt_state])))),
    CONSTRAINT running_has_a_handle CHECK (((state <> 'running'::public.attempt_state) OR (handle IS NOT NULL)))
);


--
-- Name: attempts_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.attempts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.attempts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: audit_log; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_log (
    id bigint NOT NULL,
    actor_id bigint,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: audit_log_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: competitions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.competitions (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    deadline timestamp with time zone
);


--
-- Name: competitions_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.competitions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.competitions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: decisions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.decisions (
    author_id bigint NOT NULL,
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    decided_by bigint NOT NULL
);


--
-- Name: device_logins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.device_logins (
    device_hash bytea NOT NULL,
    user_code text NOT NULL,
    user_id bigint,
    expires_at timestamp with time zone NOT NULL,
    polled_at timestamp with time zone,
    interval_s integer DEFAULT 2 NOT NULL,
    CONSTRAINT device_logins_device_hash_check CHECK ((octet_length(device_hash) = 32)),
    CONSTRAINT device_logins_interval_s_check CHECK ((interval_s > 0))
);


--
-- Name: events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events (
    submission_id bigint NOT NULL,
    id integer NOT NULL,
    run_id bigint,
    kind text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: evidence; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.evidence (
    id bigint NOT NULL,
    submission_id bigint NOT NULL,
    source text NOT NULL,
    rule text NOT NULL,
    severity text NOT NULL,
    detail text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: evidence_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.evidence ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.evidence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: exports; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.exports (
    one boolean DEFAULT true NOT NULL,
    key bytea NOT NULL,
    daily_at timestamp with time zone,
    CONSTRAINT exports_key_check CHECK ((octet_length(key) = 32)),
    CONSTRAINT exports_one_check CHECK (one)
);


--
-- Name: runs_among_others; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.runs_among_others AS
 SELECT r.id,
    r.submission_id,
    r.device,
    r.secret,
    r.state,
    r.verdict,
    r.score_s,
    r.attempts,
    r.created_at,
    r.started_at,
    r.finished_at,
    r.fault,
    r.message,
    r.unverified,
    r.rejudge_id,
    bool_or(((r.state = 'cancelled'::public.run_state) AND (r.rejudge_id IS NULL))) OVER (PARTITION BY r.submission_id) AS cancelled,
    bool_or(((NOT r.secret) AND (r.state = 'finished'::public.run_state) AND (r.verdict = 'accepted'::public.run_verdict))) OVER (PARTITION BY r.submission_id, r.device) AS passed,
    max(
        CASE
            WHEN ((r.state = 'finished'::public.run_state) AND ((r.fault IS NULL) OR (r.fault = 'author'::public.fault)) AND (j.finished_at IS NOT NULL)) THEN r.rejudge_id
            ELSE NULL::bigint
        END) OVER (PARTITION BY r.submission_id, r.device) AS last_rejudge_id
   FROM (public.runs r
     LEFT JOIN public.rejudges j ON ((j.id = r.rejudge_id)));


--
-- Name: standings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.standings (
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    author_id bigint NOT NULL,
    run_id bigint NOT NULL,
    submission_id bigint NOT NULL,
    score_s double precision NOT NULL,
    ci_low_s double precision NOT NULL,
    ci_high_s double precision NOT NULL,
    achieved_at timestamp with time zone NOT NULL,
    leads boolean NOT NULL
);


--
-- Name: shown_runs; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.shown_runs AS
 SELECT r.id,
    r.submission_id,
    r.device,
    r.secret,
    r.state,
    r.verdict,
        CASE
            WHEN (r.secret AND (r.last_rejudge_id IS NOT NULL)) THEN COALESCE(( SELECT again.score_s
               FROM (public.runs again
                 JOIN public.rejudges j_1 ON (((j_1.id = again.rejudge_id) AND (j_1.finished_at IS NOT NULL))))
              WHERE ((again.submission_id = r.submission_id) AND (again.device = r.device) AND (again.score_s IS NOT NULL))
              ORDER BY again.rejudge_id DESC
             LIMIT 1), r.score_s)
            ELSE r.score_s
        END AS score_s,
    r.attempts,
    r.created_at,
    r.started_at,
    r.finished_at,
    r.fault,
    r.message,
        CASE
            WHEN (best.submission_id = s.id) THEN offered.version
            ELSE NULL::bigint
        END AS best_of_version,
        CASE
            WHEN (NOT asked."is") THEN NULL::text
            WHEN (plain.reason IS NOT NULL) THEN plain.reason
            WHEN (same_code.other_id IS NOT NULL) THEN 'same_code'::text
            WHEN (best.submission_id < s.id) THEN 'no_better'::text
            WHEN (best.submission_id > s.id) THEN 'superseded'::text
            ELSE NULL::text
        END AS not_ranked,
        CASE
            WHEN (asked."is" AND (plain.reason IS NULL)) THEN COALESCE(same_code.other_id, best.submission_id)
            ELSE NULL::bigint
        END AS not_ranked_for,
    r.unverified
   FROM (((((((((((public.runs_among_others r
     JOIN public.submissions s ON ((s.id = r.submission_id)))
     JOIN public.leaderboards b ON ((b.id = s.leaderboard_id)))
     JOIN public.problem_versions current ON ((current.id = b.problem_version_id)))
     LEFT JOIN public.leaderboard_devices offered ON (((offered.leaderboard_id = s.leaderboard_id) AND (offered.device = r.device))))
     LEFT JOIN public.standings best ON (((best.leaderboard_id = s.leaderboard_id) AND (best.device = r.device) AND (best.author_id =
        CASE
            WHEN r.secret THEN s.author_id
            ELSE NULL::bigint
        END))))
     LEFT JOIN public.rejudges j ON ((j.id = r.last_rejudge_id)))
     LEFT JOIN public.runs newest ON (((newest.rejudge_id = r.last_rejudge_id) AND (newest.submission_id = r.submission_id) AND (newest.device = r.device) AND newest.secret)))
     JOIN public.problem_versions measured ON ((measured.id = COALESCE(j.problem_version_id, s.problem_version_id))))
     CROSS JOIN LATERAL ( SELECT (r.secret AND (r.verdict = 'accepted'::public.run_verdict) AND (r.score_s IS NOT NULL) AND r.passed AND (s.mode = 'leaderboard'::public.submission_mode) AND (best.submission_id IS DISTINCT FROM s.id)) AS "is") asked)
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (NOT asked."is") THEN NULL::text
                    WHEN (s.review <> 'clear'::public.review_state) THEN (s.review)::text
                    WHEN (( SELECT users.banned_at
                       FROM public.users
                      WHERE (users.id = s.author_id)) IS NOT NULL) THEN 'banned'::text
                    WHEN r.cancelled THEN 'cancelled'::text
                    WHEN (offered.device IS NULL) THEN 'device_removed'::text
                    WHEN (newest.verdict <> 'accepted'::public.run_verdict) THEN 'measured_again'::text
                    WHEN (COALESCE(newest.unverified, r.unverified) <> (measured.harness = 'script'::text)) THEN 'script'::text
                    WHEN (measured.judging_hash <> current.judging_hash) THEN 'problem_changed'::text
                    ELSE NULL::text
                END AS reason
         OFFSET 0) plain)
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (asked."is" AND (plain.reason IS NULL)) THEN COALESCE(( SELECT min(w.submission_id) AS min
                       FROM public.withdrawn_sources w
                      WHERE ((w.leaderboard_id = s.leaderboard_id) AND (w.author_id = s.author_id) AND ((w.source_sha256 = s.source_sha256) OR (w.code_sha256 = s.code_sha256)) AND (w.judging_hash = measured.judging_hash) AND (w.device = r.device) AND (w.submission_id < s.id) AND (r.last_rejudge_id IS NULL))), ( SELECT t.id
                       FROM (public.submissions t
                         JOIN public.problem_versions v ON (((v.id = t.problem_version_id) AND (v.judging_hash = measured.judging_hash))))
                      WHERE ((t.leaderboard_id = s.leaderboard_id) AND (t.author_id = s.author_id) AND (t.code_sha256 = s.code_sha256) AND (t.id < s.id) AND (t.review = 'clear'::public.review_state) AND (EXISTS ( SELECT 1
                               FROM public.runs first
                              WHERE ((first.submission_id = t.id) AND (first.device = r.device) AND first.secret AND (first.verdict = 'accepted'::public.run_verdict)))))
                      ORDER BY t.id
                     LIMIT 1))
                    ELSE NULL::bigint
                END AS other_id
         OFFSET 0) same_code)
  WHERE (r.rejudge_id IS NULL);


--
-- Name: hashed_runs; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.hashed_runs AS
 SELECT id,
    submission_id,
    device,
    secret,
    state,
    verdict,
    score_s,
    attempts,
    created_at,
    started_at,
    finished_at,
    fault,
    message,
    best_of_version,
    not_ranked,
    not_ranked_for,
    unverified,
    hash_record_extended(ROW(id, state, verdict, score_s, attempts, started_at, finished_at, fault, message, not_ranked, not_ranked_for, unverified), (0)::bigint) AS hash
   FROM public.shown_runs;


--
-- Name: identities; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.identities (
    provider text NOT NULL,
    subject text NOT NULL,
    user_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: invite_batches; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invite_batches (
    id bigint NOT NULL,
    created_by bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: invite_batches_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.invite_batches ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.invite_batches_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: invite_boards; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invite_boards (
    batch_id bigint NOT NULL,
    leaderboard_id bigint NOT NULL
);


--
-- Name: invites; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invites (
    code text NOT NULL,
    batch_id bigint NOT NULL,
    user_id bigint,
    claimed_at timestamp with time zone,
    CONSTRAINT a_claim_has_a_time CHECK (((user_id IS NULL) OR (claimed_at IS NOT NULL))),
    CONSTRAINT invites_code_check CHECK (((length(code) >= 8) AND (length(code) <= 64)))
);


--
-- Name: leaderboards_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.leaderboards ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.leaderboards_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: listed_submissions; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.listed_submissions AS
 SELECT r.submission_id AS id,
    b.id AS board_id,
    b.name AS board,
    b.creator_id,
    u.name AS author,
    s.author_id,
    s.file_name,
    s.mode,
    s.created_at,
    s.review,
    s.review_reason,
    r.hash,
    r.best_devices,
    r.best_versions
   FROM (((( SELECT hashed_runs.submission_id,
            bit_xor(hashed_runs.hash) AS hash,
            array_agg(hashed_runs.device) FILTER (WHERE (hashed_runs.best_of_version IS NOT NULL)) AS best_devices,
            array_agg(hashed_runs.best_of_version) FILTER (WHERE (hashed_runs.best_of_version IS NOT NULL)) AS best_versions
           FROM public.hashed_runs
          GROUP BY hashed_runs.submission_id) r
     JOIN public.submissions s ON ((s.id = r.submission_id)))
     JOIN public.leaderboards b ON ((b.id = s.leaderboard_id)))
     JOIN public.users u ON ((u.id = s.author_id)));


--
-- Name: login_attempts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.login_attempts (
    state_hash bytea NOT NULL,
    browser_hash bytea NOT NULL,
    provider text NOT NULL,
    code_verifier text NOT NULL,
    redirect_uri text NOT NULL,
    next_path text NOT NULL,
    invite text,
    linking_user_id bigint,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT login_attempts_browser_hash_check CHECK ((octet_length(browser_hash) = 32)),
    CONSTRAINT login_attempts_state_hash_check CHECK ((octet_length(state_hash) = 32))
);


--
-- Name: measurements; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.measurements (
    run_id bigint NOT NULL,
    phase public.phase NOT NULL,
    workload integer NOT NULL,
    spec text NOT NULL,
    samples integer NOT NULL,
    median_ns double precision NOT NULL,
    ci_low_ns double precision NOT NULL,
    ci_high_ns double precision NOT NULL,
    samples_zlib bytea NOT NULL
);


--
-- Name: platform; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.platform (
    one boolean DEFAULT true NOT NULL,
    accepts_jobs boolean DEFAULT true NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    CONSTRAINT only_a_pause_has_a_reason CHECK (((NOT accepts_jobs) OR (reason = ''::text))),
    CONSTRAINT platform_one_check CHECK (one)
);


--
-- Name: problem_versions_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.problem_versions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.problem_versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: problems; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.problems (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: problems_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.problems ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.problems_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: procrastinate_events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.procrastinate_events (
    id bigint NOT NULL,
    job_id bigint NOT NULL,
    type public.procrastinate_job_event_type,
    at timestamp with time zone DEFAULT now()
);


--
-- Name: procrastinate_events_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.procrastinate_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: procrastinate_events_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.procrastinate_events_id_seq OWNED BY public.procrastinate_events.id;


--
-- Name: procrastinate_jobs_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.procrastinate_jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: procrastinate_jobs_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.procrastinate_jobs_id_seq OWNED BY public.procrastinate_jobs.id;


--
-- Name: procrastinate_periodic_defers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.procrastinate_periodic_defers (
    id bigint NOT NULL,
    task_name character varying(128) NOT NULL,
    defer_timestamp bigint,
    job_id bigint,
    periodic_id character varying(128) DEFAULT ''::character varying NOT NULL
);


--
-- Name: procrastinate_periodic_defers_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.procrastinate_periodic_defers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: procrastinate_periodic_defers_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.procrastinate_periodic_defers_id_seq OWNED BY public.procrastinate_periodic_defers.id;


--
-- Name: procrastinate_workers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.procrastinate_workers (
    id bigint NOT NULL,
    last_heartbeat timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: procrastinate_workers_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.procrastinate_workers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.procrastinate_workers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: queue_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.queue_migrations (
    name text NOT NULL
);


--
-- Name: queue_turn_numbers; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.queue_turn_numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: queue_turns; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.queue_turns (
    device text NOT NULL,
    author_id bigint NOT NULL,
    waiting integer DEFAULT 0 NOT NULL,
    waiting_ranked integer DEFAULT 0 NOT NULL,
    running integer DEFAULT 0 NOT NULL,
    last_turn bigint DEFAULT 0 NOT NULL,
    last_ranked_turn bigint DEFAULT 0 NOT NULL,
    waits boolean GENERATED ALWAYS AS ((waiting > 0)) STORED NOT NULL,
    CONSTRAINT queue_turns_check CHECK (((waiting_ranked >= 0) AND (waiting_ranked <= waiting))),
    CONSTRAINT queue_turns_running_check CHECK ((running >= 0)),
    CONSTRAINT queue_turns_waiting_check CHECK ((waiting >= 0))
)
WITH (fillfactor='50');


--
-- Name: rate_limits; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rate_limits (
    leaderboard_id bigint NOT NULL,
    category public.limit_category NOT NULL,
    max_per_hour integer NOT NULL,
    CONSTRAINT rate_limits_max_per_hour_check CHECK ((max_per_hour >= 0))
);


--
-- Name: rate_uses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rate_uses (
    leaderboard_id bigint NOT NULL,
    category public.limit_category NOT NULL,
    author_id bigint NOT NULL,
    used_at timestamp with time zone NOT NULL
);


--
-- Name: rejudges_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.rejudges ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.rejudges_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: review_transitions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.review_transitions (
    before public.review_state NOT NULL,
    after public.review_state NOT NULL
);


--
-- Name: run_transitions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.run_transitions (
    before public.run_state NOT NULL,
    after public.run_state NOT NULL
);


--
-- Name: runs_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.runs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: schema_functions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_functions (
    one boolean DEFAULT true NOT NULL,
    sha256 bytea NOT NULL,
    drops text[] NOT NULL,
    CONSTRAINT schema_functions_one_check CHECK (one)
);


--
-- Name: shown_boards; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.shown_boards AS
 SELECT b.id,
    b.name,
    b.description,
    p.name AS problem_name,
    b.problem_version_id,
    v.harness,
    v.ranking_by,
    b.visibility,
    b.deadline,
    b.reveal_code,
    b.fixed_seed,
    b.created_at,
    b.creator_id,
    d.devices,
    d.authors,
    d.versions,
    d.outdated_scores
   FROM (((public.leaderboards b
     JOIN public.problem_versions v ON ((v.id = b.problem_version_id)))
     JOIN public.problems p ON ((p.id = v.problem_id)))
     CROSS JOIN LATERAL ( SELECT array_agg(leaderboard_devices.device ORDER BY leaderboard_devices."position") AS devices,
            array_agg(leaderboard_devices.authors ORDER BY leaderboard_devices."position") AS authors,
            array_agg(leaderboard_devices.version ORDER BY leaderboard_devices."position") AS versions,
            COALESCE(sum(leaderboard_devices.outdated), (0)::bigint) AS outdated_scores
           FROM public.leaderboard_devices
          WHERE (leaderboard_devices.leaderboard_id = b.id)) d);


--
-- Name: sources; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sources (
    sha256 bytea NOT NULL,
    content text NOT NULL,
    CONSTRAINT sources_sha256_check CHECK ((octet_length(sha256) = 32))
);


--
-- Name: standing_runs; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.standing_runs AS
 SELECT leaderboard_id,
    device,
    author_id,
    (best).run_id AS run_id,
    (best).submission_id AS submission_id,
    (best).score_s AS score_s,
    (best).ci_low_s AS ci_low_s,
    (best).ci_high_s AS ci_high_s,
    (best).achieved_at AS achieved_at
   FROM ( SELECT runs.leaderboard_id,
            runs.device,
            runs.author_id,
            public.best_run_of(runs.run, runs.again ORDER BY runs.measured_at, runs.achieved_at, runs.run_id) AS best
           FROM ( SELECT run.leaderboard_id,
                    run.device,
                    run.author_id,
                    run.measured_at,
                    run.achieved_at,
                    run.run_id,
                    run.*::public.eligible_runs AS run,
                    ((row_number() OVER (PARTITION BY run.leaderboard_id, run.device, run.author_id, run.source_sha256 ORDER BY run.measured_at, run.achieved_at, run.run_id) > 1) OR (row_number() OVER (PARTITION BY run.leaderboard_id, run.device, run.author_id, COALESCE(run.code_sha256, run.source_sha256) ORDER BY run.measured_at, run.achieved_at, run.run_id) > 1)) AS again
                   FROM public.eligible_runs run) runs
          GROUP BY runs.leaderboard_id, runs.device, runs.author_id) authors;


--
-- Name: submissions_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.submissions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.submissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT tokens_hash_check CHECK ((octet_length(hash) = 32))
);


--
-- Name: tokens_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.tokens ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: unranked_runs; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.unranked_runs AS
 SELECT id AS run_id,
    not_ranked AS reason,
    not_ranked_for AS other_id
   FROM public.shown_runs
  WHERE (not_ranked IS NOT NULL);


--
-- Name: users_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.users ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: worker_counters; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.worker_counters (
    owner text NOT NULL,
    name text NOT NULL,
    label text NOT NULL,
    value double precision NOT NULL
);


--
-- Name: worker_devices; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.worker_devices (
    owner text NOT NULL,
    device text NOT NULL,
    available boolean NOT NULL,
    note text NOT NULL
);


--
-- Name: workers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.workers (
    owner text NOT NULL,
    node text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: yoyo_lock; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.yoyo_lock (
    locked integer DEFAULT 1 NOT NULL,
    ctime timestamp without time zone,
    pid integer NOT NULL
);


--
-- Name: procrastinate_events id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_events ALTER COLUMN id SET DEFAULT nextval('public.procrastinate_events_id_seq'::regclass);


--
-- Name: procrastinate_jobs id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_jobs ALTER COLUMN id SET DEFAULT nextval('public.procrastinate_jobs_id_seq'::regclass);


--
-- Name: procrastinate_periodic_defers id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_periodic_defers ALTER COLUMN id SET DEFAULT nextval('public.procrastinate_periodic_defers_id_seq'::regclass);


--
-- Data for Name: _yoyo_log; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public._yoyo_log VALUES ('281cce92-e617-11f1-883a-02fc00000001', '8bc66fa76d29469ee92d922c88b3321bf0ae5aa266019b210a1609589e515884', '0001.tables', 'apply', 'root', 'localhost', NULL, '2026-11-22 01:50:55.682736');


--
-- Data for Name: _yoyo_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public._yoyo_migration VALUES ('8bc66fa76d29469ee92d922c88b3321bf0ae5aa266019b210a1609589e515884', '0001.tables', '2026-11-22 01:50:55.685712');


--
-- Data for Name: _yoyo_version; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public._yoyo_version VALUES (2, '2026-11-22 01:50:55.595693');


--
-- Data for Name: artifacts; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: attempts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.attempts OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 'finished', 'local', 'old-worker', 'h', '2026-11-21 03:45:39.062549+00', '2026-11-21 03:45:39.062549+00', '2026-11-21 03:45:39.076594+00', '{"mode": "leaderboard", "job_id": "1.1.1fa542e3d1a3", "phases": [{"cases": [], "phase": "leaderboard", "failure": null, "verdict": "accepted", "workloads": [{"spec": "size: 4", "extra": {}, "best_ns": 100000.0, "checked": 0, "ci95_ns": [100000.0, 110000.0], "mean_ns": 105000.0, "stdev_ns": 1.0, "worst_ns": 110000.0, "anchor_ns": null, "median_ns": 105000.0, "samples_ns": [], "stopped_by": "", "empty_call_ns": null}], "duration_s": 1.0}], "stderr": "", "stdout": "", "system": {"os": "Linux", "cpu": "a CPU", "notes": [], "torch": null, "device": "CPU", "python": "3.11"}, "compile": null, "failure": null, "harness": "native", "problem": "both", "sandbox": {"mode": "none", "missing": [], "in_force": []}, "score_s": 0.5, "timings": {}, "verdict": "accepted", "version": 1, "artifacts": [], "duration_s": 0.0, "score_ci95_s": [0.495, 0.505]}', NULL, 0);
INSERT INTO public.attempts OVERRIDING SYSTEM VALUE VALUES (2, 2, 1, 'finished', 'local', 'old-worker', 'h', '2026-11-21 03:45:39.087256+00', '2026-11-21 03:45:39.087256+00', '2026-11-21 03:45:39.101218+00', '{"mode": "leaderboard", "job_id": "2.1.47dfcb2e300f", "phases": [{"cases": [], "phase": "leaderboard", "failure": null, "verdict": "accepted", "workloads": [{"spec": "size: 4", "extra": {}, "best_ns": 100000.0, "checked": 0, "ci95_ns": [100000.0, 110000.0], "mean_ns": 105000.0, "stdev_ns": 1.0, "worst_ns": 110000.0, "anchor_ns": null, "median_ns": 105000.0, "samples_ns": [], "stopped_by": "", "empty_call_ns": null}], "duration_s": 1.0}], "stderr": "", "stdout": "", "system": {"os": "Linux", "cpu": "a CPU", "notes": [], "torch": null, "device": "CPU", "python": "3.11"}, "compile": null, "failure": null, "harness": "native", "problem": "both", "sandbox": {"mode": "none", "missing": [], "in_force": []}, "score_s": 0.5, "timings": {}, "verdict": "accepted", "version": 1, "artifacts": [], "duration_s": 0.0, "score_ci95_s": [0.495, 0.505]}', NULL, 0);
INSERT INTO public.attempts OVERRIDING SYSTEM VALUE VALUES (3, 3, 1, 'finished', 'local', 'old-worker', 'h', '2026-11-21 03:45:39.112043+00', '2026-11-21 03:45:39.112043+00', '2026-11-21 03:45:39.126179+00', '{"mode": "leaderboard", "job_id": "3.1.02a9531fe916", "phases": [{"cases": [], "phase": "leaderboard", "failure": null, "verdict": "accepted", "workloads": [{"spec": "size: 4", "extra": {}, "best_ns": 100000.0, "checked": 0, "ci95_ns": [100000.0, 110000.0], "mean_ns": 105000.0, "stdev_ns": 1.0, "worst_ns": 110000.0, "anchor_ns": null, "median_ns": 105000.0, "samples_ns": [], "stopped_by": "", "empty_call_ns": null}], "duration_s": 1.0}], "stderr": "", "stdout": "", "system": {"os": "Linux", "cpu": "a CPU", "notes": [], "torch": null, "device": "CPU", "python": "3.11"}, "compile": null, "failure": null, "harness": "native", "problem": "both", "sandbox": {"mode": "none", "missing": [], "in_force": []}, "score_s": 0.25, "timings": {}, "verdict": "accepted", "version": 1, "artifacts": [], "duration_s": 0.0, "score_ci95_s": [0.2475, 0.2525]}', NULL, 0);
INSERT INTO public.attempts OVERRIDING SYSTEM VALUE VALUES (4, 4, 1, 'finished', 'local', 'old-worker', 'h', '2026-11-21 03:45:39.133502+00', '2026-11-21 03:45:39.133502+00', '2026-11-21 03:45:39.147217+00', '{"mode": "leaderboard", "job_id": "4.1.5d9f002a6ef6", "phases": [{"cases": [], "phase": "leaderboard", "failure": null, "verdict": "accepted", "workloads": [{"spec": "size: 4", "extra": {}, "best_ns": 100000.0, "checked": 0, "ci95_ns": [100000.0, 110000.0], "mean_ns": 105000.0, "stdev_ns": 1.0, "worst_ns": 110000.0, "anchor_ns": null, "median_ns": 105000.0, "samples_ns": [], "stopped_by": "", "empty_call_ns": null}], "duration_s": 1.0}], "stderr": "", "stdout": "", "system": {"os": "Linux", "cpu": "a CPU", "notes": [], "torch": null, "device": "CPU", "python": "3.11"}, "compile": null, "failure": null, "harness": "native", "problem": "both", "sandbox": {"mode": "none", "missing": [], "in_force": []}, "score_s": 0.25, "timings": {}, "verdict": "accepted", "version": 1, "artifacts": [], "duration_s": 0.0, "score_ci95_s": [0.2475, 0.2525]}', NULL, 0);
INSERT INTO public.attempts OVERRIDING SYSTEM VALUE VALUES (5, 6, 1, 'running', 'local', 'old-worker', 'h', '2026-11-21 03:45:39.174647+00', '2026-11-21 03:45:39.174647+00', NULL, NULL, NULL, 0);


--
-- Data for Name: audit_log; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: competitions; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: decisions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.decisions VALUES (2, 1, 'CPU', 1000);
INSERT INTO public.decisions VALUES (3, 1, 'CPU', 1000);


--
-- Data for Name: device_logins; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.events VALUES (1, 1, 1, 'queued', '{}', '2026-11-21 03:45:39.0093+00');
INSERT INTO public.events VALUES (1, 2, 2, 'queued', '{}', '2026-11-21 03:45:39.0093+00');
INSERT INTO public.events VALUES (2, 1, 3, 'queued', '{}', '2026-11-21 03:45:39.039307+00');
INSERT INTO public.events VALUES (2, 2, 4, 'queued', '{}', '2026-11-21 03:45:39.039307+00');
INSERT INTO public.events VALUES (1, 3, 1, 'dispatched', '{"attempt": 1}', '2026-11-21 03:45:39.062549+00');
INSERT INTO public.events VALUES (1, 4, 1, 'running', '{}', '2026-11-21 03:45:39.072375+00');
INSERT INTO public.events VALUES (1, 5, 1, 'finished', '{"fault": null, "message": null, "score_s": 0.5, "verdict": "accepted"}', '2026-11-21 03:45:39.076594+00');
INSERT INTO public.events VALUES (1, 6, 2, 'dispatched', '{"attempt": 1}', '2026-11-21 03:45:39.087256+00');
INSERT INTO public.events VALUES (1, 7, 2, 'running', '{}', '2026-11-21 03:45:39.096712+00');
INSERT INTO public.events VALUES (1, 8, 2, 'finished', '{"fault": null, "message": null, "score_s": 0.5, "verdict": "accepted"}', '2026-11-21 03:45:39.101218+00');
INSERT INTO public.events VALUES (2, 3, 3, 'dispatched', '{"attempt": 1}', '2026-11-21 03:45:39.112043+00');
INSERT INTO public.events VALUES (2, 4, 3, 'running', '{}', '2026-11-21 03:45:39.121438+00');
INSERT INTO public.events VALUES (2, 5, 3, 'finished', '{"fault": null, "message": null, "score_s": 0.25, "verdict": "accepted"}', '2026-11-21 03:45:39.126179+00');
INSERT INTO public.events VALUES (2, 6, 4, 'dispatched', '{"attempt": 1}', '2026-11-21 03:45:39.133502+00');
INSERT INTO public.events VALUES (2, 7, 4, 'running', '{}', '2026-11-21 03:45:39.143104+00');
INSERT INTO public.events VALUES (2, 8, 4, 'finished', '{"fault": null, "message": null, "score_s": 0.25, "verdict": "accepted"}', '2026-11-21 03:45:39.147217+00');
INSERT INTO public.events VALUES (3, 1, 5, 'queued', '{}', '2026-11-21 03:45:39.15414+00');
INSERT INTO public.events VALUES (4, 1, 6, 'queued', '{}', '2026-11-21 03:45:39.164448+00');
INSERT INTO public.events VALUES (4, 2, 6, 'dispatched', '{"attempt": 1}', '2026-11-21 03:45:39.174647+00');


--
-- Data for Name: evidence; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: exports; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: identities; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: invite_batches; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: invite_boards; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: invites; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: leaderboard_devices; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.leaderboard_devices VALUES (1, 'H100', 1, 0, 0, 0);
INSERT INTO public.leaderboard_devices VALUES (1, 'CPU', 0, 2, 0, 0);


--
-- Data for Name: leaderboards; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.leaderboards OVERRIDING SYSTEM VALUE VALUES (1, NULL, 'both', 'Sort it.', 1, 'public', NULL, 1, '\x7e8cbae1b708772e215aabc062915593e8cc9cc5671cb228410bef835b63da48', '2026-11-21 03:45:39.001275+00', false, false);


--
-- Data for Name: login_attempts; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: measurements; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.measurements VALUES (1, 'leaderboard', 0, 'size: 4', 2, 105000, 100000, 110000, '\x789c63600082ac1f0e208ae1f62f0700155303b8');
INSERT INTO public.measurements VALUES (2, 'leaderboard', 0, 'size: 4', 2, 105000, 100000, 110000, '\x789c63600082ac1f0e208ae1f62f0700155303b8');
INSERT INTO public.measurements VALUES (3, 'leaderboard', 0, 'size: 4', 2, 105000, 100000, 110000, '\x789c63600082ac1f0e208ae1f62f0700155303b8');
INSERT INTO public.measurements VALUES (4, 'leaderboard', 0, 'size: 4', 2, 105000, 100000, 110000, '\x789c63600082ac1f0e208ae1f62f0700155303b8');


--
-- Data for Name: platform; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.platform VALUES (true, true, '');


--
-- Data for Name: problem_versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.problem_versions OVERRIDING SYSTEM VALUE VALUES (1, 1, '\x6eaae2f6bfc2eefd6968c44cf4173fdf177129668f6ac857d4300683eeb6d45d', '{"version": 1, "spec": {"name": "both", "lang": "py", "harness": "native", "harness_reason": "the reference offers generate_input and check_implementation", "files": [{"name": "reference.py", "text": "import numpy as np\n\ndef generate_input(size: int, seed: int):\n    return np.random.default_rng(seed).random(size)\n\ndef ref_kernel(data):\n    return np.sort(data)\n\ndef check_implementation(data, output):\n    if not np.array_equal(ref_kernel(data), output):\n        return False, \"the output isn''t sorted\"\n    return True, \"\"\n"}], "submission_name": "submission.py", "config": {"main": "eval.py", "sources": [], "include_dirs": [], "defines": {}, "compile_flags": [], "outputs": []}, "tests": [{"args": {"size": 127, "seed": 4242}}, {"args": {"size": 1000, "seed": 1}}], "benchmarks": [{"args": {"size": 10000, "seed": 7}}], "ranking_by": "last", "timeouts": {"test_s": 180.0, "benchmark_s": 180.0, "ranked_s": 180.0, "compile_s": 120.0}, "multi_gpu": false, "fresh_output": false, "inputs_unchanged": false, "floors": [], "anchor": null}, "description": "Sort it.", "devices": ["CPU"], "templates": {"Python": "import numpy as np\n\ndef custom_kernel(data):\n    return np.sort(data)\n"}}', 'native', 'last', '2026-11-21 03:45:39.001275+00', '\x6eaae2f6bfc2eefd6968c44cf4173fdf177129668f6ac857d4300683eeb6d45d', DEFAULT);


--
-- Data for Name: problems; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.problems OVERRIDING SYSTEM VALUE VALUES (1, 'both', '2026-11-21 03:45:39.001275+00');


--
-- Data for Name: procrastinate_events; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: procrastinate_jobs; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: procrastinate_periodic_defers; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: procrastinate_workers; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: queue_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.queue_migrations VALUES ('00.00.00_01_initial.sql');
INSERT INTO public.queue_migrations VALUES ('00.05.00_01_drop_started_at_column.sql');
INSERT INTO public.queue_migrations VALUES ('00.05.00_02_drop_started_at_column.sql');
INSERT INTO public.queue_migrations VALUES ('00.05.00_03_drop_procrastinate_version_table.sql');
INSERT INTO public.queue_migrations VALUES ('00.06.00_01_fix_procrastinate_fetch_job.sql');
INSERT INTO public.queue_migrations VALUES ('00.07.01_01_fix_trigger_status_events_insert.sql');
INSERT INTO public.queue_migrations VALUES ('00.08.01_01_add_queueing_lock_column.sql');
INSERT INTO public.queue_migrations VALUES ('00.10.00_01_close_fetch_job_race_condition.sql');
INSERT INTO public.queue_migrations VALUES ('00.10.00_02_add_defer_job_function.sql');
INSERT INTO public.queue_migrations VALUES ('00.11.00_03_add_procrastinate_periodic_defers.sql');
INSERT INTO public.queue_migrations VALUES ('00.12.00_01_add_foreign_key_index.sql');
INSERT INTO public.queue_migrations VALUES ('00.14.00_01_add_locks_to_periodic_defer.sql');
INSERT INTO public.queue_migrations VALUES ('00.15.02_01_fix_procrastinate_defer_periodic_job.sql');
INSERT INTO public.queue_migrations VALUES ('00.16.00_01_add_finish_job_and_retry_job_functions.sql');
INSERT INTO public.queue_migrations VALUES ('00.17.00_01_add_trigger_on_job_deletion.sql');
INSERT INTO public.queue_migrations VALUES ('00.17.00_02_delete_finished_jobs.sql');
INSERT INTO public.queue_migrations VALUES ('00.17.00_03_add_checks_to_finish_job.sql');
INSERT INTO public.queue_migrations VALUES ('00.17.00_04_add_checks_to_retry_job.sql');
INSERT INTO public.queue_migrations VALUES ('00.18.01_01_fix_finish_job_compat_issue.sql');
INSERT INTO public.queue_migrations VALUES ('00.19.00_01_add_index_on_procrastinate_jobs.sql');
INSERT INTO public.queue_migrations VALUES ('00.22.00_01_add_kwargs_to_defer_periodic_job.sql');
INSERT INTO public.queue_migrations VALUES ('00.23.00_01_null_locks_excluded.sql');
INSERT INTO public.queue_migrations VALUES ('01.00.00_01_remove_old_finish_job_function.sql');
INSERT INTO public.queue_migrations VALUES ('01.01.01_01_job_id_bigint.sql');
INSERT INTO public.queue_migrations VALUES ('02.00.03_01_add_job_priority.sql');
INSERT INTO public.queue_migrations VALUES ('02.05.00_01_add_periodic_job_priority.sql');
INSERT INTO public.queue_migrations VALUES ('02.06.00_01_add_cancel_states.sql');
INSERT INTO public.queue_migrations VALUES ('02.08.00_01_add_additional_params_to_retry_job.sql');
INSERT INTO public.queue_migrations VALUES ('02.14.01_01_add_indexes_for_fetch_job.sql');
INSERT INTO public.queue_migrations VALUES ('03.00.00_01_pre_cancel_notification.sql');
INSERT INTO public.queue_migrations VALUES ('03.00.00_50_post_cancel_notification.sql');
INSERT INTO public.queue_migrations VALUES ('03.01.00_01_pre_add_heartbeat.sql');
INSERT INTO public.queue_migrations VALUES ('03.01.00_50_post_add_heartbeat.sql');
INSERT INTO public.queue_migrations VALUES ('03.02.00_01_pre_batch_defer_jobs.sql');
INSERT INTO public.queue_migrations VALUES ('03.02.00_50_post_batch_defer_jobs.sql');
INSERT INTO public.queue_migrations VALUES ('03.03.00_01_pre_priority_lock_fetch_job.sql');
INSERT INTO public.queue_migrations VALUES ('03.04.00_01_pre_add_retry_failed_job_procedure.sql');
INSERT INTO public.queue_migrations VALUES ('03.04.00_50_post_add_retry_failed_job_procedure.sql');


--
-- Data for Name: queue_turns; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.queue_turns VALUES ('CPU', 3, 0, 0, 1, 0, 0, DEFAULT);
INSERT INTO public.queue_turns VALUES ('H100', 2, 1, 0, 0, 0, 0, DEFAULT);


--
-- Data for Name: rate_limits; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: rate_uses; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: rejudges; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: review_transitions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.review_transitions VALUES ('clear', 'held');
INSERT INTO public.review_transitions VALUES ('clear', 'refused');
INSERT INTO public.review_transitions VALUES ('held', 'clear');
INSERT INTO public.review_transitions VALUES ('held', 'refused');
INSERT INTO public.review_transitions VALUES ('refused', 'clear');


--
-- Data for Name: run_transitions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.run_transitions VALUES ('queued', 'dispatched');
INSERT INTO public.run_transitions VALUES ('queued', 'cancelled');
INSERT INTO public.run_transitions VALUES ('queued', 'finished');
INSERT INTO public.run_transitions VALUES ('dispatched', 'running');
INSERT INTO public.run_transitions VALUES ('dispatched', 'queued');
INSERT INTO public.run_transitions VALUES ('dispatched', 'finished');
INSERT INTO public.run_transitions VALUES ('dispatched', 'lost');
INSERT INTO public.run_transitions VALUES ('dispatched', 'cancelled');
INSERT INTO public.run_transitions VALUES ('running', 'queued');
INSERT INTO public.run_transitions VALUES ('running', 'finished');
INSERT INTO public.run_transitions VALUES ('running', 'lost');
INSERT INTO public.run_transitions VALUES ('running', 'cancelled');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.runs OVERRIDING SYSTEM VALUE VALUES (1, 1, 'CPU', false, 0, 'finished', 'accepted', NULL, NULL, 0.5, 0.495, 0.505, false, 1, '2026-11-21 03:45:39.0093+00', '2026-11-21 03:45:39.062549+00', '2026-11-21 03:45:39.076594+00', NULL, NULL, NULL);
INSERT INTO public.runs OVERRIDING SYSTEM VALUE VALUES (2, 1, 'CPU', true, 0, 'finished', 'accepted', NULL, NULL, 0.5, 0.495, 0.505, false, 1, '2026-11-21 03:45:39.0093+00', '2026-11-21 03:45:39.087256+00', '2026-11-21 03:45:39.101218+00', NULL, NULL, NULL);
INSERT INTO public.runs OVERRIDING SYSTEM VALUE VALUES (3, 2, 'CPU', false, 0, 'finished', 'accepted', NULL, NULL, 0.25, 0.2475, 0.2525, false, 1, '2026-11-21 03:45:39.039307+00', '2026-11-21 03:45:39.112043+00', '2026-11-21 03:45:39.126179+00', NULL, NULL, NULL);
INSERT INTO public.runs OVERRIDING SYSTEM VALUE VALUES (4, 2, 'CPU', true, 0, 'finished', 'accepted', NULL, NULL, 0.25, 0.2475, 0.2525, false, 1, '2026-11-21 03:45:39.039307+00', '2026-11-21 03:45:39.133502+00', '2026-11-21 03:45:39.147217+00', NULL, NULL, NULL);
INSERT INTO public.runs OVERRIDING SYSTEM VALUE VALUES (5, 3, 'H100', false, 0, 'queued', NULL, NULL, NULL, NULL, NULL, NULL, false, 0, '2026-11-21 03:45:39.15414+00', NULL, NULL, 2, NULL, NULL);
INSERT INTO public.runs OVERRIDING SYSTEM VALUE VALUES (6, 4, 'CPU', false, 0, 'dispatched', NULL, NULL, NULL, NULL, NULL, NULL, false, 1, '2026-11-21 03:45:39.164448+00', '2026-11-21 03:45:39.174647+00', NULL, 3, NULL, NULL);


--
-- Data for Name: schema_functions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_functions VALUES (true, '\xc52169bd10fe14d016ab49680f893083773a01435d4d1747747a517c26bd47ec', '{"DROP ROUTINE queue_line","DROP ROUTINE queue_position","DROP ROUTINE next_run","DROP ROUTINE next_rejudged_run","DROP TRIGGER runs_turn_delete ON runs","DROP TRIGGER runs_turn_update ON runs","DROP TRIGGER runs_turn_insert ON runs","DROP ROUTINE keep_turns","DROP ROUTINE announce_turn","DROP ROUTINE count_turn","DROP TRIGGER users_renamed ON users","DROP ROUTINE count_name_change","DROP TRIGGER standings_go ON standings","DROP TRIGGER standings_come ON standings","DROP ROUTINE count_standings_change","DROP VIEW listed_submissions","DROP VIEW hashed_runs","DROP VIEW unranked_runs","DROP VIEW shown_runs","DROP VIEW runs_among_others","DROP ROUTINE standings_page","DROP ROUTINE standing_rank","DROP ROUTINE rebuild_board_standings","DROP ROUTINE rebuild_standings","DROP ROUTINE refresh_standing","DROP ROUTINE recount_authors","DROP ROUTINE has_outdated","DROP ROUTINE mark_leaders","DROP VIEW standing_runs","DROP ROUTINE best_run_of","DROP ROUTINE better_run","DROP VIEW eligible_runs","DROP VIEW rankable_runs","DROP TRIGGER runs_author_update ON runs","DROP TRIGGER runs_author_insert ON runs","DROP ROUTINE name_run_author","DROP TRIGGER runs_transition ON runs","DROP ROUTINE guard_run_transition","DROP ROUTINE add_submission","DROP TRIGGER submissions_review ON submissions","DROP ROUTINE guard_review_transition","DROP ROUTINE use_limit","DROP ROUTINE add_event","DROP VIEW shown_boards","DROP ROUTINE is_member","DROP TRIGGER problem_versions_immutable ON problem_versions","DROP ROUTINE refuse_change"}');


--
-- Data for Name: sources; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sources VALUES ('\x5c242b4f163fca782112be40cd918eafc25da6a33100303dbec94c5b14694fa5', 'import numpy as np
def custom_kernel(data):
    return np.sort(data)
');


--
-- Data for Name: standings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.standings VALUES (1, 'CPU', 2, 2, 1, 0.5, 0.495, 0.505, '2026-11-21 03:45:39.0093+00', true);
INSERT INTO public.standings VALUES (1, 'CPU', 3, 4, 2, 0.25, 0.2475, 0.2525, '2026-11-21 03:45:39.039307+00', true);


--
-- Data for Name: submissions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.submissions OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 2, '\x5c242b4f163fca782112be40cd918eafc25da6a33100303dbec94c5b14694fa5', 'fast.py', 'leaderboard', 'clear', '2026-11-21 03:45:39.0093+00', NULL, NULL, NULL);
INSERT INTO public.submissions OVERRIDING SYSTEM VALUE VALUES (2, 1, 1, 3, '\x5c242b4f163fca782112be40cd918eafc25da6a33100303dbec94c5b14694fa5', 'fast.py', 'leaderboard', 'clear', '2026-11-21 03:45:39.039307+00', NULL, NULL, NULL);
INSERT INTO public.submissions OVERRIDING SYSTEM VALUE VALUES (3, 1, 1, 2, '\x5c242b4f163fca782112be40cd918eafc25da6a33100303dbec94c5b14694fa5', 'fast.py', 'test', 'clear', '2026-11-21 03:45:39.15414+00', NULL, NULL, NULL);
INSERT INTO public.submissions OVERRIDING SYSTEM VALUE VALUES (4, 1, 1, 3, '\x5c242b4f163fca782112be40cd918eafc25da6a33100303dbec94c5b14694fa5', 'fast.py', 'test', 'clear', '2026-11-21 03:45:39.164448+00', NULL, NULL, NULL);


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (1, 1, 'first', '\x30d8c9b4ada3163a3a9e6ac3a80c146b7e01fb3764ea199a5d155f85270637df', '2026-11-21 03:45:38.983747+00', NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (2, 2, 'first', '\x0e4aba1e30af4d8f27d90445f5ccc0e98c42241f0dae3f78b7581d86ed3fca24', '2026-11-21 03:45:38.990835+00', NULL, NULL);
INSERT INTO public.tokens OVERRIDING SYSTEM VALUE VALUES (3, 3, 'first', '\x147fbaa3912a6e67e2e63b11f222980e70f8dd0d6d6940b27da4e08e47c3433f', '2026-11-21 03:45:38.997506+00', NULL, NULL);


--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.users OVERRIDING SYSTEM VALUE VALUES (1, 'root', 'admin', '2026-11-21 03:45:38.983747+00', NULL);
INSERT INTO public.users OVERRIDING SYSTEM VALUE VALUES (2, 'ada', 'competitor', '2026-11-21 03:45:38.990835+00', NULL);
INSERT INTO public.users OVERRIDING SYSTEM VALUE VALUES (3, 'bob', 'competitor', '2026-11-21 03:45:38.997506+00', NULL);


--
-- Data for Name: withdrawn_sources; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: worker_counters; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: worker_devices; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: workers; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: yoyo_lock; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Name: attempts_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.attempts_id_seq', 5, true);


--
-- Name: audit_log_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.audit_log_id_seq', 1, false);


--
-- Name: competitions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.competitions_id_seq', 1, false);


--
-- Name: evidence_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.evidence_id_seq', 1, false);


--
-- Name: invite_batches_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.invite_batches_id_seq', 1, false);


--
-- Name: leaderboards_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.leaderboards_id_seq', 1, true);


--
-- Name: problem_versions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.problem_versions_id_seq', 1, true);


--
-- Name: problems_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.problems_id_seq', 1, true);


--
-- Name: procrastinate_events_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.procrastinate_events_id_seq', 1, false);


--
-- Name: procrastinate_jobs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.procrastinate_jobs_id_seq', 1, false);


--
-- Name: procrastinate_periodic_defers_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.procrastinate_periodic_defers_id_seq', 1, false);


--
-- Name: procrastinate_workers_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.procrastinate_workers_id_seq', 1, false);


--
-- Name: queue_turn_numbers; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.queue_turn_numbers', 1, false);


--
-- Name: rejudges_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.rejudges_id_seq', 1, false);


--
-- Name: runs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.runs_id_seq', 6, true);


--
-- Name: submissions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.submissions_id_seq', 4, true);


--
-- Name: tokens_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.tokens_id_seq', 3, true);


--
-- Name: users_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.users_id_seq', 3, true);


--
-- Name: _yoyo_log _yoyo_log_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public._yoyo_log
    ADD CONSTRAINT _yoyo_log_pkey PRIMARY KEY (id);


--
-- Name: _yoyo_migration _yoyo_migration_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public._yoyo_migration
    ADD CONSTRAINT _yoyo_migration_pkey PRIMARY KEY (migration_hash);


--
-- Name: _yoyo_version _yoyo_version_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public._yoyo_version
    ADD CONSTRAINT _yoyo_version_pkey PRIMARY KEY (version);


--
-- Name: artifacts artifacts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifacts
    ADD CONSTRAINT artifacts_pkey PRIMARY KEY (run_id, name);


--
-- Name: attempts attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (id);


--
-- Name: attempts attempts_run_id_number_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_run_id_number_key UNIQUE (run_id, number);


--
-- Name: audit_log audit_log_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);


--
-- Name: competitions competitions_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.competitions
    ADD CONSTRAINT competitions_name_key UNIQUE (name);


--
-- Name: competitions competitions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.competitions
    ADD CONSTRAINT competitions_pkey PRIMARY KEY (id);


--
-- Name: decisions decisions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (author_id, leaderboard_id, device);


--
-- Name: device_logins device_logins_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_pkey PRIMARY KEY (device_hash);


--
-- Name: device_logins device_logins_user_code_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_user_code_key UNIQUE (user_code);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (submission_id, id);


--
-- Name: evidence evidence_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (id);


--
-- Name: evidence evidence_submission_id_source_rule_detail_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_submission_id_source_rule_detail_key UNIQUE (submission_id, source, rule, detail);


--
-- Name: exports exports_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.exports
    ADD CONSTRAINT exports_pkey PRIMARY KEY (one);


--
-- Name: identities identities_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (provider, subject);


--
-- Name: invite_batches invite_batches_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invite_batches
    ADD CONSTRAINT invite_batches_pkey PRIMARY KEY (id);


--
-- Name: invite_boards invite_boards_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invite_boards
    ADD CONSTRAINT invite_boards_pkey PRIMARY KEY (batch_id, leaderboard_id);


--
-- Name: invites invites_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_pkey PRIMARY KEY (code);


--
-- Name: leaderboard_devices leaderboard_devices_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leaderboard_devices
    ADD CONSTRAINT leaderboard_devices_pkey PRIMARY KEY (leaderboard_id, device);


--
-- Name: leaderboards leaderboards_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leaderboards
    ADD CONSTRAINT leaderboards_pkey PRIMARY KEY (id);


--
-- Name: login_attempts login_attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_attempts
    ADD CONSTRAINT login_attempts_pkey PRIMARY KEY (state_hash);


--
-- Name: measurements measurements_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.measurements
    ADD CONSTRAINT measurements_pkey PRIMARY KEY (run_id, phase, workload);


--
-- Name: platform platform_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.platform
    ADD CONSTRAINT platform_pkey PRIMARY KEY (one);


--
-- Name: problem_versions problem_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.problem_versions
    ADD CONSTRAINT problem_versions_pkey PRIMARY KEY (id);


--
-- Name: problem_versions problem_versions_problem_id_content_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.problem_versions
    ADD CONSTRAINT problem_versions_problem_id_content_hash_key UNIQUE (problem_id, content_hash);


--
-- Name: problems problems_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.problems
    ADD CONSTRAINT problems_name_key UNIQUE (name);


--
-- Name: problems problems_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.problems
    ADD CONSTRAINT problems_pkey PRIMARY KEY (id);


--
-- Name: procrastinate_events procrastinate_events_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_events
    ADD CONSTRAINT procrastinate_events_pkey PRIMARY KEY (id);


--
-- Name: procrastinate_jobs procrastinate_jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_jobs
    ADD CONSTRAINT procrastinate_jobs_pkey PRIMARY KEY (id);


--
-- Name: procrastinate_periodic_defers procrastinate_periodic_defers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_pkey PRIMARY KEY (id);


--
-- Name: procrastinate_periodic_defers procrastinate_periodic_defers_unique; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_unique UNIQUE (task_name, periodic_id, defer_timestamp);


--
-- Name: procrastinate_workers procrastinate_workers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_workers
    ADD CONSTRAINT procrastinate_workers_pkey PRIMARY KEY (id);


--
-- Name: queue_migrations queue_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.queue_migrations
    ADD CONSTRAINT queue_migrations_pkey PRIMARY KEY (name);


--
-- Name: queue_turns queue_turns_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.queue_turns
    ADD CONSTRAINT queue_turns_pkey PRIMARY KEY (device, author_id);


--
-- Name: rate_limits rate_limits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (leaderboard_id, category);


--
-- Name: rejudges rejudges_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rejudges
    ADD CONSTRAINT rejudges_pkey PRIMARY KEY (id);


--
-- Name: review_transitions review_transitions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.review_transitions
    ADD CONSTRAINT review_transitions_pkey PRIMARY KEY (before, after);


--
-- Name: run_transitions run_transitions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.run_transitions
    ADD CONSTRAINT run_transitions_pkey PRIMARY KEY (before, after);


--
-- Name: runs runs_once; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_once UNIQUE NULLS NOT DISTINCT (submission_id, device, secret, rejudge_id);


--
-- Name: runs runs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);


--
-- Name: schema_functions schema_functions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_functions
    ADD CONSTRAINT schema_functions_pkey PRIMARY KEY (one);


--
-- Name: sources sources_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_pkey PRIMARY KEY (sha256);


--
-- Name: standings standings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT standings_pkey PRIMARY KEY (leaderboard_id, device, author_id);


--
-- Name: submissions submissions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT submissions_pkey PRIMARY KEY (id);


--
-- Name: tokens tokens_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


--
-- Name: withdrawn_sources withdrawn_sources_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.withdrawn_sources
    ADD CONSTRAINT withdrawn_sources_pkey PRIMARY KEY (leaderboard_id, author_id, source_sha256, judging_hash, device);


--
-- Name: worker_counters worker_counters_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.worker_counters
    ADD CONSTRAINT worker_counters_pkey PRIMARY KEY (owner, name, label);


--
-- Name: worker_devices worker_devices_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.worker_devices
    ADD CONSTRAINT worker_devices_pkey PRIMARY KEY (owner, device);


--
-- Name: workers workers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (owner);


--
-- Name: yoyo_lock yoyo_lock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.yoyo_lock
    ADD CONSTRAINT yoyo_lock_pkey PRIMARY KEY (locked);


--
-- Name: attempts_open; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX attempts_open ON public.attempts USING btree (run_id) WHERE (state = ANY (ARRAY['launching'::public.attempt_state, 'running'::public.attempt_state]));


--
-- Name: attempts_open_owner; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX attempts_open_owner ON public.attempts USING btree (owner) WHERE (state = ANY (ARRAY['launching'::public.attempt_state, 'running'::public.attempt_state]));


--
-- Name: audit_log_actor; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_log_actor ON public.audit_log USING btree (actor_id);


--
-- Name: audit_log_subject; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_log_subject ON public.audit_log USING btree (subject, id DESC);


--
-- Name: decisions_board; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX decisions_board ON public.decisions USING btree (leaderboard_id, device);


--
-- Name: device_logins_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX device_logins_expiry ON public.device_logins USING btree (expires_at);


--
-- Name: device_logins_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX device_logins_user ON public.device_logins USING btree (user_id);


--
-- Name: identities_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX identities_user ON public.identities USING btree (user_id);


--
-- Name: idx_procrastinate_jobs_worker_not_null; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_procrastinate_jobs_worker_not_null ON public.procrastinate_jobs USING btree (worker_id) WHERE ((worker_id IS NOT NULL) AND (status = 'doing'::public.procrastinate_job_status));


--
-- Name: idx_procrastinate_workers_last_heartbeat; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_procrastinate_workers_last_heartbeat ON public.procrastinate_workers USING btree (last_heartbeat);


--
-- Name: invite_batches_creator; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX invite_batches_creator ON public.invite_batches USING btree (created_by);


--
-- Name: invite_boards_board; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX invite_boards_board ON public.invite_boards USING btree (leaderboard_id);


--
-- Name: invites_batch; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX invites_batch ON public.invites USING btree (batch_id);


--
-- Name: invites_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX invites_user ON public.invites USING btree (user_id);


--
-- Name: leaderboards_competition; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX leaderboards_competition ON public.leaderboards USING btree (competition_id);


--
-- Name: leaderboards_name; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX leaderboards_name ON public.leaderboards USING btree (lower(name));


--
-- Name: leaderboards_problem_version; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX leaderboards_problem_version ON public.leaderboards USING btree (problem_version_id);


--
-- Name: login_attempts_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_attempts_expiry ON public.login_attempts USING btree (expires_at);


--
-- Name: login_attempts_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_attempts_user ON public.login_attempts USING btree (linking_user_id);


--
-- Name: procrastinate_events_job_id_fkey_v1; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX procrastinate_events_job_id_fkey_v1 ON public.procrastinate_events USING btree (job_id);


--
-- Name: procrastinate_jobs_id_lock_idx_v1; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX procrastinate_jobs_id_lock_idx_v1 ON public.procrastinate_jobs USING btree (id, lock) WHERE (status = ANY (ARRAY['todo'::public.procrastinate_job_status, 'doing'::public.procrastinate_job_status]));


--
-- Name: procrastinate_jobs_lock_idx_v1; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX procrastinate_jobs_lock_idx_v1 ON public.procrastinate_jobs USING btree (lock) WHERE (status = 'doing'::public.procrastinate_job_status);


--
-- Name: procrastinate_jobs_priority_idx_v1; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX procrastinate_jobs_priority_idx_v1 ON public.procrastinate_jobs USING btree (priority DESC, id) WHERE (status = 'todo'::public.procrastinate_job_status);


--
-- Name: procrastinate_jobs_queue_name_idx_v1; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX procrastinate_jobs_queue_name_idx_v1 ON public.procrastinate_jobs USING btree (queue_name);


--
-- Name: procrastinate_jobs_queueing_lock_idx_v1; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX procrastinate_jobs_queueing_lock_idx_v1 ON public.procrastinate_jobs USING btree (queueing_lock) WHERE (status = 'todo'::public.procrastinate_job_status);


--
-- Name: procrastinate_periodic_defers_job_id_fkey_v1; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX procrastinate_periodic_defers_job_id_fkey_v1 ON public.procrastinate_periodic_defers USING btree (job_id);


--
-- Name: queue_turns_author; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX queue_turns_author ON public.queue_turns USING btree (author_id);


--
-- Name: queue_turns_waiting; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX queue_turns_waiting ON public.queue_turns USING btree (device) WHERE waits;


--
-- Name: rate_uses_author; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX rate_uses_author ON public.rate_uses USING btree (author_id);


--
-- Name: rate_uses_board_author; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX rate_uses_board_author ON public.rate_uses USING btree (leaderboard_id, author_id, category, used_at);


--
-- Name: rejudges_at_work; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX rejudges_at_work ON public.rejudges USING btree (leaderboard_id, device) WHERE (finished_at IS NULL);


--
-- Name: rejudges_board; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX rejudges_board ON public.rejudges USING btree (leaderboard_id, device, id DESC);


--
-- Name: runs_at_work; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_at_work ON public.runs USING btree (device) WHERE (state = ANY (ARRAY['dispatched'::public.run_state, 'running'::public.run_state]));


--
-- Name: runs_ended; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_ended ON public.runs USING btree (device, finished_at DESC) INCLUDE (started_at) WHERE (state = 'finished'::public.run_state);


--
-- Name: runs_rejudge; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_rejudge ON public.runs USING btree (rejudge_id);


--
-- Name: runs_rejudge_waiting; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_rejudge_waiting ON public.runs USING btree (device, id) WHERE ((state = 'queued'::public.run_state) AND (rejudge_id IS NOT NULL));


--
-- Name: runs_waiting; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_waiting ON public.runs USING btree (device, author_id, priority DESC, id) WHERE (state = 'queued'::public.run_state);


--
-- Name: standings_author; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX standings_author ON public.standings USING btree (author_id);


--
-- Name: standings_order; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX standings_order ON public.standings USING btree (leaderboard_id, device, score_s, achieved_at, author_id) INCLUDE (leads, ci_low_s, ci_high_s, submission_id, run_id);


--
-- Name: standings_run; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX standings_run ON public.standings USING btree (run_id);


--
-- Name: standings_submission; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX standings_submission ON public.standings USING btree (submission_id);


--
-- Name: submissions_author; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX submissions_author ON public.submissions USING btree (author_id, id DESC);


--
-- Name: submissions_board_author; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX submissions_board_author ON public.submissions USING btree (leaderboard_id, author_id, id DESC);


--
-- Name: submissions_code; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX submissions_code ON public.submissions USING btree (leaderboard_id, author_id, code_sha256, id) WHERE (code_sha256 IS NOT NULL);


--
-- Name: submissions_in_review; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX submissions_in_review ON public.submissions USING btree (id) WHERE (review = 'held'::public.review_state);


--
-- Name: submissions_reviewed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX submissions_reviewed ON public.submissions USING btree (leaderboard_id, author_id) WHERE (reviewed_at IS NOT NULL);


--
-- Name: submissions_source; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX submissions_source ON public.submissions USING btree (source_sha256);


--
-- Name: tokens_user; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_user ON public.tokens USING btree (user_id);


--
-- Name: users_name; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX users_name ON public.users USING btree (lower(name));


--
-- Name: withdrawn_sources_author; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX withdrawn_sources_author ON public.withdrawn_sources USING btree (author_id);


--
-- Name: withdrawn_sources_code; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX withdrawn_sources_code ON public.withdrawn_sources USING btree (leaderboard_id, author_id, code_sha256) WHERE (code_sha256 IS NOT NULL);


--
-- Name: problem_versions problem_versions_immutable; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER problem_versions_immutable BEFORE UPDATE ON public.problem_versions FOR EACH ROW EXECUTE FUNCTION public.refuse_change();


--
-- Name: procrastinate_jobs procrastinate_jobs_notify_queue_job_aborted_v1; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER procrastinate_jobs_notify_queue_job_aborted_v1 AFTER UPDATE OF abort_requested ON public.procrastinate_jobs FOR EACH ROW WHEN (((old.abort_requested = false) AND (new.abort_requested = true) AND (new.status = 'doing'::public.procrastinate_job_status))) EXECUTE FUNCTION public.procrastinate_notify_queue_abort_job_v1();


--
-- Name: procrastinate_jobs procrastinate_jobs_notify_queue_job_inserted_v1; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1 AFTER INSERT ON public.procrastinate_jobs FOR EACH ROW WHEN ((new.status = 'todo'::public.procrastinate_job_status)) EXECUTE FUNCTION public.procrastinate_notify_queue_job_inserted_v1();


--
-- Name: procrastinate_jobs procrastinate_trigger_abort_requested_events_v1; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER procrastinate_trigger_abort_requested_events_v1 AFTER UPDATE OF abort_requested ON public.procrastinate_jobs FOR EACH ROW WHEN ((new.abort_requested = true)) EXECUTE FUNCTION public.procrastinate_trigger_abort_requested_events_procedure_v1();


--
-- Name: procrastinate_jobs procrastinate_trigger_delete_jobs_v1; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER procrastinate_trigger_delete_jobs_v1 BEFORE DELETE ON public.procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION public.procrastinate_unlink_periodic_defers_v1();


--
-- Name: procrastinate_jobs procrastinate_trigger_scheduled_events_v1; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER procrastinate_trigger_scheduled_events_v1 AFTER INSERT OR UPDATE ON public.procrastinate_jobs FOR EACH ROW WHEN (((new.scheduled_at IS NOT NULL) AND (new.status = 'todo'::public.procrastinate_job_status))) EXECUTE FUNCTION public.procrastinate_trigger_function_scheduled_events_v1();


--
-- Name: procrastinate_jobs procrastinate_trigger_status_events_insert_v1; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER procrastinate_trigger_status_events_insert_v1 AFTER INSERT ON public.procrastinate_jobs FOR EACH ROW WHEN ((new.status = 'todo'::public.procrastinate_job_status)) EXECUTE FUNCTION public.procrastinate_trigger_function_status_events_insert_v1();


--
-- Name: procrastinate_jobs procrastinate_trigger_status_events_update_v1; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER procrastinate_trigger_status_events_update_v1 AFTER UPDATE OF status ON public.procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION public.procrastinate_trigger_function_status_events_update_v1();


--
-- Name: runs runs_author_insert; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER runs_author_insert BEFORE INSERT ON public.runs FOR EACH ROW WHEN ((new.author_id IS NULL)) EXECUTE FUNCTION public.name_run_author();


--
-- Name: runs runs_author_update; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER runs_author_update BEFORE UPDATE OF state ON public.runs FOR EACH ROW WHEN ((new.author_id IS NULL)) EXECUTE FUNCTION public.name_run_author();


--
-- Name: runs runs_transition; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER runs_transition BEFORE UPDATE OF state ON public.runs FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION public.guard_run_transition();


--
-- Name: runs runs_turn_delete; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER runs_turn_delete AFTER DELETE ON public.runs FOR EACH ROW WHEN ((old.state = ANY (ARRAY['queued'::public.run_state, 'dispatched'::public.run_state, 'running'::public.run_state]))) EXECUTE FUNCTION public.keep_turns();


--
-- Name: runs runs_turn_insert; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER runs_turn_insert AFTER INSERT ON public.runs FOR EACH ROW WHEN ((new.state = ANY (ARRAY['queued'::public.run_state, 'dispatched'::public.run_state, 'running'::public.run_state]))) EXECUTE FUNCTION public.keep_turns();


--
-- Name: runs runs_turn_update; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER runs_turn_update AFTER UPDATE OF state ON public.runs FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION public.keep_turns();


--
-- Name: standings standings_come; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER standings_come AFTER INSERT ON public.standings REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_standings_change();


--
-- Name: standings standings_go; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER standings_go AFTER DELETE ON public.standings REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_standings_change();


--
-- Name: submissions submissions_review; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER submissions_review BEFORE UPDATE OF review ON public.submissions FOR EACH ROW WHEN ((old.review <> new.review)) EXECUTE FUNCTION public.guard_review_transition();


--
-- Name: users users_renamed; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER users_renamed AFTER UPDATE OF name ON public.users FOR EACH ROW WHEN ((old.name <> new.name)) EXECUTE FUNCTION public.count_name_change();


--
-- Name: artifacts artifacts_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.artifacts
    ADD CONSTRAINT artifacts_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;


--
-- Name: attempts attempts_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;


--
-- Name: audit_log audit_log_actor_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES public.users(id) ON DELETE SET NULL;


--
-- Name: decisions decisions_author_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: decisions decisions_leaderboard_id_device_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_leaderboard_id_device_fkey FOREIGN KEY (leaderboard_id, device) REFERENCES public.leaderboard_devices(leaderboard_id, device) ON DELETE CASCADE;


--
-- Name: device_logins device_logins_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: events events_submission_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_submission_id_fkey FOREIGN KEY (submission_id) REFERENCES public.submissions(id) ON DELETE CASCADE;


--
-- Name: evidence evidence_submission_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_submission_id_fkey FOREIGN KEY (submission_id) REFERENCES public.submissions(id) ON DELETE CASCADE;


--
-- Name: identities identities_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: invite_batches invite_batches_created_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invite_batches
    ADD CONSTRAINT invite_batches_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id) ON DELETE SET NULL;


--
-- Name: invite_boards invite_boards_batch_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invite_boards
    ADD CONSTRAINT invite_boards_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.invite_batches(id) ON DELETE CASCADE;


--
-- Name: invite_boards invite_boards_leaderboard_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invite_boards
    ADD CONSTRAINT invite_boards_leaderboard_id_fkey FOREIGN KEY (leaderboard_id) REFERENCES public.leaderboards(id) ON DELETE CASCADE;


--
-- Name: invites invites_batch_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES public.invite_batches(id) ON DELETE CASCADE;


--
-- Name: invites invites_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invites
    ADD CONSTRAINT invites_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE SET NULL;


--
-- Name: leaderboard_devices leaderboard_devices_leaderboard_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leaderboard_devices
    ADD CONSTRAINT leaderboard_devices_leaderboard_id_fkey FOREIGN KEY (leaderboard_id) REFERENCES public.leaderboards(id) ON DELETE CASCADE;


--
-- Name: leaderboards leaderboards_competition_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leaderboards
    ADD CONSTRAINT leaderboards_competition_id_fkey FOREIGN KEY (competition_id) REFERENCES public.competitions(id);


--
-- Name: leaderboards leaderboards_creator_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leaderboards
    ADD CONSTRAINT leaderboards_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES public.users(id);


--
-- Name: leaderboards leaderboards_problem_version_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leaderboards
    ADD CONSTRAINT leaderboards_problem_version_id_fkey FOREIGN KEY (problem_version_id) REFERENCES public.problem_versions(id);


--
-- Name: login_attempts login_attempts_linking_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_attempts
    ADD CONSTRAINT login_attempts_linking_user_id_fkey FOREIGN KEY (linking_user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: measurements measurements_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.measurements
    ADD CONSTRAINT measurements_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;


--
-- Name: problem_versions problem_versions_problem_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.problem_versions
    ADD CONSTRAINT problem_versions_problem_id_fkey FOREIGN KEY (problem_id) REFERENCES public.problems(id);


--
-- Name: procrastinate_events procrastinate_events_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_events
    ADD CONSTRAINT procrastinate_events_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.procrastinate_jobs(id) ON DELETE CASCADE;


--
-- Name: procrastinate_jobs procrastinate_jobs_worker_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_jobs
    ADD CONSTRAINT procrastinate_jobs_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES public.procrastinate_workers(id) ON DELETE SET NULL;


--
-- Name: procrastinate_periodic_defers procrastinate_periodic_defers_job_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.procrastinate_jobs(id);


--
-- Name: queue_turns queue_turns_author_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.queue_turns
    ADD CONSTRAINT queue_turns_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: rate_limits rate_limits_leaderboard_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_leaderboard_id_fkey FOREIGN KEY (leaderboard_id) REFERENCES public.leaderboards(id) ON DELETE CASCADE;


--
-- Name: rate_uses rate_uses_author_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_uses
    ADD CONSTRAINT rate_uses_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: rate_uses rate_uses_leaderboard_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_uses
    ADD CONSTRAINT rate_uses_leaderboard_id_fkey FOREIGN KEY (leaderboard_id) REFERENCES public.leaderboards(id) ON DELETE CASCADE;


--
-- Name: rejudges rejudges_leaderboard_id_device_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rejudges
    ADD CONSTRAINT rejudges_leaderboard_id_device_fkey FOREIGN KEY (leaderboard_id, device) REFERENCES public.leaderboard_devices(leaderboard_id, device) ON DELETE CASCADE;


--
-- Name: rejudges rejudges_problem_version_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rejudges
    ADD CONSTRAINT rejudges_problem_version_id_fkey FOREIGN KEY (problem_version_id) REFERENCES public.problem_versions(id);


--
-- Name: runs runs_rejudge_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_rejudge_id_fkey FOREIGN KEY (rejudge_id) REFERENCES public.rejudges(id) ON DELETE CASCADE;


--
-- Name: runs runs_submission_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_submission_id_fkey FOREIGN KEY (submission_id) REFERENCES public.submissions(id) ON DELETE CASCADE;


--
-- Name: standings standings_author_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT standings_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: standings standings_leaderboard_id_device_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT standings_leaderboard_id_device_fkey FOREIGN KEY (leaderboard_id, device) REFERENCES public.leaderboard_devices(leaderboard_id, device) ON DELETE CASCADE;


--
-- Name: standings standings_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT standings_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(id) ON DELETE CASCADE;


--
-- Name: standings standings_submission_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT standings_submission_id_fkey FOREIGN KEY (submission_id) REFERENCES public.submissions(id) ON DELETE CASCADE;


--
-- Name: submissions submissions_author_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT submissions_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(id);


--
-- Name: submissions submissions_leaderboard_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT submissions_leaderboard_id_fkey FOREIGN KEY (leaderboard_id) REFERENCES public.leaderboards(id);


--
-- Name: submissions submissions_problem_version_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT submissions_problem_version_id_fkey FOREIGN KEY (problem_version_id) REFERENCES public.problem_versions(id);


--
-- Name: submissions submissions_source_sha256_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT submissions_source_sha256_fkey FOREIGN KEY (source_sha256) REFERENCES public.sources(sha256);


--
-- Name: tokens tokens_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: withdrawn_sources withdrawn_sources_author_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.withdrawn_sources
    ADD CONSTRAINT withdrawn_sources_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.users(id) ON DELETE CASCADE;


--
-- Name: withdrawn_sources withdrawn_sources_leaderboard_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.withdrawn_sources
    ADD CONSTRAINT withdrawn_sources_leaderboard_id_fkey FOREIGN KEY (leaderboard_id) REFERENCES public.leaderboards(id) ON DELETE CASCADE;


--
-- Name: worker_counters worker_counters_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.worker_counters
    ADD CONSTRAINT worker_counters_owner_fkey FOREIGN KEY (owner) REFERENCES public.workers(owner) ON DELETE CASCADE;


--
-- Name: worker_devices worker_devices_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.worker_devices
    ADD CONSTRAINT worker_devices_owner_fkey FOREIGN KEY (owner) REFERENCES public.workers(owner) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


