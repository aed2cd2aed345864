"""Tests of the Spark session, clusters and what is left out of the environment."""
