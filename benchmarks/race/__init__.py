"""The race: this project and its peers on the same work, side by side.

``make race`` measures what is not measured yet, prints the ratios, and writes ``benchmarks/race*.csv``,
``docs/race.md`` and ``docs/gallery/race.svg``. ``contests`` says who runs what, ``child`` measures one
contestant once in a process of its own, ``runner`` interleaves them, ``summary`` makes ratios of the rounds, ``page``
and ``figure`` show them.
"""
