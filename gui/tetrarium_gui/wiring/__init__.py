"""What connects panels, space and bridge: one module for each thing that people do.

A panel emits what is wanted and shows records; the bridge asks and changes; here stands which belongs to which.
"""
