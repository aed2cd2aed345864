"""Pictures of a trace for viewers that exist: Perfetto, Mermaid, ShiViz."""
