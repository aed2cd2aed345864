"""Inputs of tasks: channels with credits, gates, and what checkpoints do to them."""
