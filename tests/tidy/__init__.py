"""The code itself is checked: directions, lengths, banned calls and words, documented commands."""
