"""Tests of recordings as data: what is read of them, whole or damaged, and made of them."""
