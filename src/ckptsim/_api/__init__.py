"""The functions and results that `ckptsim` offers, each imported when it is first used."""
