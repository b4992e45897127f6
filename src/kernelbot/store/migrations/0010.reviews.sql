-- depends: 0002.standings
-- What organisers decide: who did it and why, and what speaks against a submission.

CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor_id bigint REFERENCES users ON DELETE SET NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_subject ON audit_log (subject, id DESC);
CREATE INDEX audit_log_actor ON audit_log (actor_id);

-- The reason is for the author's eyes; `reviewed_at`: a person has looked, so nothing holds it again.
ALTER TABLE submissions
    ADD COLUMN review_reason text,
    ADD COLUMN reviewed_at timestamptz,
    ADD CONSTRAINT review_names_its_reason CHECK (review = 'clear' OR review_reason IS NOT NULL);
CREATE INDEX submissions_in_review ON submissions (id) WHERE review = 'held';

-- The same table as `domain/states.py`; a test compares them.
CREATE TABLE review_transitions (
    before review_state NOT NULL,
    after review_state NOT NULL,
    PRIMARY KEY (before, after)
);
INSERT INTO review_transitions VALUES
    ('clear', 'held'), ('clear', 'refused'), ('held', 'clear'), ('held', 'refused'),
    ('refused', 'clear');

CREATE FUNCTION guard_review_transition() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER submissions_review BEFORE UPDATE OF review ON submissions
    FOR EACH ROW WHEN (OLD.review <> NEW.review) EXECUTE FUNCTION guard_review_transition();

-- For organisers: what was noticed, by which rule. It decides nothing.
CREATE TABLE evidence (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    source text NOT NULL,
    rule text NOT NULL,
    severity text NOT NULL,
    detail text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (submission_id, source, rule, detail)
);
