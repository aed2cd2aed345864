"""Record a running job from the REST server of its engine: GET only, within limits, redacted."""
