"""Tests of the analysis: Spark session, sweeps, statistics, figures."""
