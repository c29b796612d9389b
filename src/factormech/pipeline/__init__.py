"""What the rules of the workflow call: planning, jobs, freshness, recovery and provenance."""
