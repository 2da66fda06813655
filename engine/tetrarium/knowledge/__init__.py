"""What a text names: people, files, symbols, versions. Feeds the entity boost and, later, the graph."""
