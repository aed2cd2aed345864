"""Tests of scenarios: fields, loader, library, sweep plans."""
