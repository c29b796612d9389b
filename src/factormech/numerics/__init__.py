"""Numerical routines that know nothing of privacy: each is written once, here, where no library has it as well."""
