"""Kinds of study that are one module each: what is asked, measured, tabulated and drawn.

:mod:`~factormech.studies.base` says what a kind is; the registry knows them all.
"""
