"""Lower bounds on the error of every ε-LDP protocol, interactive or not, with any estimator.

:mod:`~factormech.bounds.protocols.squared` bounds the mean squared error and
:mod:`~factormech.bounds.protocols.largest` the expected largest error. The theorems and their proofs are in
``docs/lower-bounds-every-protocol.md``.
"""
