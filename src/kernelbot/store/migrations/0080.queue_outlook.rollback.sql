DROP FUNCTION queue_outlook;
-- How many runs of its device are judged before a waiting run, plus one, if nobody submits more:
-- in each round every author with something left has one turn.
CREATE OR REPLACE FUNCTION queue_place(_run bigint, _ranked_first boolean)
RETURNS bigint LANGUAGE sql STABLE AS $$
    WITH own AS (
        SELECT r.device, r.author_id, r.priority,
            CASE WHEN _ranked_first AND r.priority > 0 THEN t.last_ranked_turn
                ELSE t.last_turn END AS last_turn,
            (
                SELECT count(*) FROM runs o
                WHERE o.device = r.device AND o.author_id = r.author_id AND o.state = 'queued'
                    AND o.id <= r.id AND (NOT _ranked_first OR (o.priority > 0) = (r.priority > 0))
            ) AS round
        FROM runs r JOIN queue_turns t ON t.device = r.device AND t.author_id = r.author_id
        WHERE r.id = _run AND r.state = 'queued'
    )
    SELECT own.round + coalesce(sum(
        CASE WHEN t.author_id = own.author_id THEN 0
            ELSE least(
                CASE WHEN NOT _ranked_first THEN t.waiting
                    WHEN own.priority > 0 THEN t.waiting_ranked
                    ELSE t.waiting - t.waiting_ranked END,
                own.round - 1
                    + ((
                        CASE WHEN _ranked_first AND own.priority > 0 THEN t.last_ranked_turn
                            ELSE t.last_turn END,
                        t.author_id
                    ) < (own.last_turn, own.author_id))::int
            ) END
        + CASE WHEN _ranked_first AND own.priority = 0 THEN t.waiting_ranked ELSE 0 END
    ), 0)
    FROM own LEFT JOIN queue_turns t ON t.device = own.device AND t.waiting > 0
    GROUP BY own.round;
$$;
