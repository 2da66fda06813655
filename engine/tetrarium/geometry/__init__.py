"""Memories as regular tetrahedra on one lattice (S1, in the sound reading of docs/decisions).

`lattice` is the arithmetic of voxels and vertices, `similarity` what "means the same" is here, `frames`
turns meaning into directions in space, `places` keeps what stands, `placement` finds the next place, and
`clusters` names the components. Nothing that stands is moved but by `plans`: split, merge, attach, mend, `settle` and
`layout`. `figures` measure a landscape, `paths` lead through it, `health` finds what is damaged. The room is pure: it stores nothing, reads no clock and never enters a
ranking – geometry is for people.
"""
