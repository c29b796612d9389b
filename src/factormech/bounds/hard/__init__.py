"""Lower bounds on the number of users of local protocols, from pairs of distributions that are hard to tell apart.

:mod:`~factormech.bounds.hard.pairs` holds the pairs, :mod:`~factormech.bounds.hard.pairs` how far a randomizer can see
into them, :mod:`~factormech.bounds.hard.divergence` what that says about n users, and
:mod:`~factormech.bounds.hard.release` the resulting bound for a workload.
"""
