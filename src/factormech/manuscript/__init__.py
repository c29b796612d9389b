"""What a manuscript takes from a study: its figure, table, caption, references and numbers as LaTeX."""
