"""Conformance vectors: scripted inputs to one core and the outputs that must come out."""
