"""The window of Tetrarium: people see, search and follow the memory that their agents write.

The window stands on the engine (`tetrarium`) and never the other way round. Inside it, one module
crosses threads (`bridge`), one knows the service (`worker`), one connects objects (`app`).
"""
