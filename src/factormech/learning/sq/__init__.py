"""Statistical queries: oracles, what can be learned by asking them, and who can answer them in private."""
