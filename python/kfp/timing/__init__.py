"""Paired timings that can be trusted. Knows neither tasks nor devices: only executions and samples."""
