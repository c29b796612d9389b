"""Tables of results: their columns and rules, CSV and LaTeX, and what figures and captions read from them."""
