"""The panels round the space: each takes records in and emits what the person wants as signals."""
