"""Lower bounds on the error of any trusted curator, as numbers."""
