"""The calendar, lists, random streams and the wire: what all functions of the kernel use."""
