"""Tests of DAGs on a schedule."""
