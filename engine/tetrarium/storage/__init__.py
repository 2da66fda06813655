"""The truth: one SQLite file. The only room that speaks SQL; everything else in the house is derived from it."""
