"""Figures: tables in, matplotlib figures out; each module says which tables it takes."""
