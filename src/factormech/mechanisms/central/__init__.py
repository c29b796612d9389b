"""A trusted curator: mechanisms that add noise to, or around, the answers of linear queries."""
