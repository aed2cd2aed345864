"""Tests of the cores of recovery: detection, restart, failover, in-flight data, rescaling."""
