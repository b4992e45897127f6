"""Problems of several ranks: as many runners as a case has, called together and judged together."""
