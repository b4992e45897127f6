-- name: add_measurement
INSERT INTO measurements (
    run_id, phase, workload, spec, samples, median_ns, ci_low_ns, ci_high_ns, samples_zlib
)
VALUES (
    %(run_id)s, %(phase)s, %(workload)s, %(spec)s, %(samples)s, %(median_ns)s, %(ci_low_ns)s,
    %(ci_high_ns)s, %(samples_zlib)s
);

-- name: add_artifact
INSERT INTO artifacts (run_id, name, media_type, content)
VALUES (%(run_id)s, %(name)s, %(media_type)s, %(content)s);
