"""The verbs without their command line: each computes an answer, with its lines and document."""
