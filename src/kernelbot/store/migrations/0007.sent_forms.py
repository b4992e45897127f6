"""Forms of the web pages that were sent, so that one sent twice makes one submission."""

from yoyo import step

__depends__ = {"0006.guild_settings"}

steps = [
    # `form` is random and in the form itself. `submission_id` is NULL while it is made.
    step(
        "CREATE TABLE sent_forms ("
        " author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,"
        " form text NOT NULL CHECK (length(form) BETWEEN 1 AND 64),"
        " submission_id bigint REFERENCES submissions ON DELETE CASCADE,"
        " sent_at timestamptz NOT NULL DEFAULT now(),"
        " PRIMARY KEY (author_id, form))"
    ),
    step("CREATE INDEX sent_forms_submission ON sent_forms (submission_id)"),
]
