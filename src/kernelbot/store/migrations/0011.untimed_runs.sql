-- Runs on secret data that wait for a public run which wasn't accepted: nobody would judge them.

DELETE FROM runs s USING runs p
    WHERE s.submission_id = p.submission_id AND s.device = p.device AND s.secret
    AND s.rejudge_id IS NULL AND s.state = 'queued'
    AND NOT p.secret AND p.state = 'finished' AND p.verdict <> 'accepted';
