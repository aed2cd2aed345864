"""The conformance verb: its words, and that nothing but the script decides."""
