"""Tests of how jobs end: closed forms, golden orders, sweeps, figures."""
