"""Compiled kernels: single-threaded nogil functions over (start, stop).

Kernels validate nothing, allocate nothing and start no threads; each file states its contract
for NaN, empty and invalid input at its head.
"""
