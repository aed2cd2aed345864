"""The world of a job: one control plane over two data planes."""
