"""Tests of the prediction of measured runs and recoveries."""
