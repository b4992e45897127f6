-- Functions and views were one set for all releases until 0.1.0, noted here. Now each release has
-- its own, noted in code_schemas.
DROP TABLE IF EXISTS schema_functions;
