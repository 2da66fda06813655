"""From birth to correction: what is stored, as what, and what it replaces."""
