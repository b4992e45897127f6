DROP FUNCTION standings_page;
