"""How an attempt on records gets back what a checkpoint holds of data in flight."""
