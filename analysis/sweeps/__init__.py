"""A sweep on Spark: from a plan to rows, chunks and waves, the worker, what one run may take."""
