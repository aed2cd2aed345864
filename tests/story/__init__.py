"""Stories and pictures made from a trace."""
