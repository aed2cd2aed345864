"""Tests of stores on real files: vectors, kills, costs, wrong arguments."""
