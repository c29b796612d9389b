"""Data sets of numbers of users by type: three public ones, read from files, and synthetic stand-ins for them."""
