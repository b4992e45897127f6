-- Forms of the web pages that were sent, so that one sent twice makes one submission.

-- `form` is random and in the form itself. `submission_id` is NULL while it is made.
CREATE TABLE sent_forms (
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    form text NOT NULL CHECK (length(form) BETWEEN 1 AND 64),
    submission_id bigint REFERENCES submissions ON DELETE CASCADE,
    sent_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (author_id, form));
CREATE INDEX sent_forms_submission ON sent_forms (submission_id);
