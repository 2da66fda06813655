"""What leaves the space, what must not stay in it, and who may be trusted."""
