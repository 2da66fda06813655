"""From a question to an answer: score, carve the voids, fit the budget – one trace for all of it."""
