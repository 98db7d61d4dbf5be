"""Ballots: margins, pivotal queries, exact substitution, effective votes."""
