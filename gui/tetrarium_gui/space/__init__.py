"""The space: memories as tetrahedra on the octet lattice, drawn by one instanced call.

`scene` and `picking` and `camera` are pure numpy; `tetrahedra` speaks OpenGL, `flat` draws the same
arrays without it; `view` is the widget that people touch.
"""
