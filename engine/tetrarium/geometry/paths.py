"""Ways through a cluster: from memory to memory over shared vertices (S1: no association table is needed)."""

from __future__ import annotations

from tetrarium.geometry.places import Places


def shortest_path(places: Places, one: int, other: int) -> list[int]:
    """Nums of a shortest way, both ends included; of equally short ways that over the lowest nums.

    Empty when either stands nowhere or they stand in different components. Searched from both ends at once.
    """
    if one not in places.key_of or places.component_of.get(one) != places.component_of.get(other, -1):
        return []
    if one == other:
        return [one]
    sides: tuple[dict[int, int], dict[int, int]] = ({one: one}, {other: other})
    edges: list[list[int]] = [[one], [other]]
    while edges[0] and edges[1]:
        side = 0 if len(edges[0]) <= len(edges[1]) else 1
        mine, theirs = sides[side], sides[1 - side]
        following: list[int] = []
        meeting: list[int] = []
        for num in edges[side]:
            for near in places.neighbours(num):
                if near not in mine:
                    mine[near] = num
                    following.append(near)
                    if near in theirs:
                        meeting.append(near)
        if meeting:
            middle = min(meeting)
            return [*reversed(_back(sides[0], middle)), *_back(sides[1], middle)[1:]]
        edges[side] = sorted(following)
    return []


def _back(came_from: dict[int, int], num: int) -> list[int]:
    way = [num]
    while came_from[num] != num:
        num = came_from[num]
        way.append(num)
    return way
