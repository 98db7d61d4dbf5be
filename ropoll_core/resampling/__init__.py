"""Task-level resampling: bootstrap, permutation, mergeable states."""
