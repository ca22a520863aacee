"""Nobody, "Heads Do This" (2030): a whole paper in small, for the tests."""
