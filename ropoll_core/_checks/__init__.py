"""Every coercion of an argument and every message about a bad one.

``as_*`` coerces and returns, ``check_*`` only raises. A message gives the argument, the rule
and what was received, with the index of the first offender. TypeError for a wrong type,
ValueError for a wrong value or shape. One module an area; `options` has the scalars.
"""
