"""What makes memories findable: vectors of their texts, and the indexes over vectors and words.

Everything here is derived from the store, disposable and rebuildable; nothing here is the truth.
"""
