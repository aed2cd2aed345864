"""Tests of the mutants of the ordering core: scenarios and plans that distinguish them."""
