"""What is asked: linear queries, their Gram matrix, spectrum and fast answers."""
