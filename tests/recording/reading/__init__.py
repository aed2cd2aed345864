"""Tests of recordings as data: the data read of them, whole or damaged, and made of them."""
