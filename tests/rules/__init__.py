"""The naive rules that run beside cores in exploring runs."""
