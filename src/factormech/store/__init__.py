"""Result files: one reader and writer of HDF5, what a file may hold, and atomic writes."""
