"""Thin adapters to engines that outgrow one machine; each imports its engine lazily."""
