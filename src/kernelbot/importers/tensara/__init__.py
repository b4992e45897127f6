"""Problems of Tensara."""
