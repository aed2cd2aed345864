"""Tests of the Spark session, clusters and the rest out of the environment."""
