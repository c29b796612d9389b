"""Pure differential privacy: noise shaped by the body of the queries' answers, and the mechanisms that add it."""
