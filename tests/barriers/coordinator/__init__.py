"""Tests of the checkpoint coordinator and its failure counting."""
