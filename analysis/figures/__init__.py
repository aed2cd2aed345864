"""Figures: tables in, matplotlib figures out. Each module says which tables it takes."""
