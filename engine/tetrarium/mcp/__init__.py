"""The endpoint that coding agents speak to: a table of tools, one protocol loop per client, one host per space.

Nothing here imports the engine (numpy, the model, the store) before the first tool list is out: a
client waits for that answer with a clock in its hand.
"""
