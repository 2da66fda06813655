"""The shaders of the space, GLSL 330 (what macOS still offers), our own.

`TETRAHEDRON`: 12 corners a memory; the lattice gives place and orientation from three integers. Edges come
from barycentric coordinates, so that they cost nothing and stay one pixel wide.
`HULL`: a small cluster as one body. `FAR`: the same memories as points, where a face is smaller than a few pixels.
`BACKDROP`: the vertical gradient, one triangle. `DOT`: shared vertices, and the halo round the selection.
`BEACON`: the light of a hit, and a body for it where its tetrahedron would be a speck.
"""

from __future__ import annotations

_BACKGROUND = """
uniform vec3 canvas_top; uniform vec3 canvas_bottom; uniform float device_height;
vec3 background() { return mix(canvas_bottom, canvas_top, clamp(gl_FragCoord.y / device_height, 0.0, 1.0)); }
"""

BACKDROP_VERTEX = """#version 330 core
void main() {
    vec2 corner = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
    gl_Position = vec4(corner * 2.0 - 1.0, 1.0, 1.0);
}
"""

BACKDROP_FRAGMENT = (
    """#version 330 core
out vec4 color;
"""
    + _BACKGROUND
    + """
float noise(vec2 p) { return fract(52.98 * fract(dot(p, vec2(0.0671, 0.00584)))); }  // breaks up the bands
void main() { color = vec4(background() + (noise(gl_FragCoord.xy) - 0.5) / 255.0, 1.0); }
"""
)

_TETRAHEDRON_VERTEX = """
layout(location = 0) in vec3 even_corner;
layout(location = 1) in vec3 odd_corner;
layout(location = 2) in vec3 even_normal;
layout(location = 3) in vec3 barycentric;
#ifdef LISTED
layout(location = 4) in int row;
uniform isamplerBuffer places; uniform usamplerBuffer marks;
#else
layout(location = 4) in ivec3 voxel;
layout(location = 6) in uvec4 look;
#ifdef TRAVELLING
layout(location = 5) in float delay;
layout(location = 7) in vec3 start;
uniform float travel;
#else
layout(location = 5) in float born;
#endif
#endif
uniform mat4 view; uniform mat4 projection;
uniform float now; uniform float grow_time;
const float WORLD = 0.70710678;
const vec3 ANCHORS[4] = vec3[4](vec3(0, 0, 0), vec3(1, 1, 0), vec3(1, 0, 1), vec3(0, 1, 1));
out vec3 edge; out vec3 eye_normal; out vec3 eye_position;
flat out uvec4 mark;
void main() {
#ifdef LISTED
    ivec4 place = texelFetch(places, row);
    ivec3 voxel = place.xyz;
    float born = intBitsToFloat(place.w);
    uvec4 look = texelFetch(marks, row);
#endif
    bool odd = ((voxel.x + voxel.y + voxel.z) & 1) != 0;
    vec3 anchor = ANCHORS[look.z >> 6u];
    vec3 corner = odd ? odd_corner : even_corner;
    anchor = odd ? 1.0 - anchor : anchor;
#ifdef TRAVELLING
    float along = clamp((travel - delay) / 0.6, 0.0, 1.0);
    vec4 position = view * vec4((vec3(voxel) + corner) * WORLD + start * (1.0 - along * along * (3.0 - 2.0 * along)), 1.0);
#else
    float grown = clamp((now - born) / grow_time, 0.0, 1.0);
    grown = 1.0 - pow(1.0 - grown, 3.0);
    vec4 position = view * vec4((vec3(voxel) + mix(anchor, corner, grown)) * WORLD, 1.0);
#endif
    gl_Position = projection * position;
    edge = barycentric;
    eye_normal = mat3(view) * (odd ? -even_normal : even_normal);
    eye_position = position.xyz;
    mark = look;
    if ((look.z & 16u) != 0u) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);  // hidden: all corners at one point out of sight
}
"""
TETRAHEDRON_VERTEX = "#version 330 core" + _TETRAHEDRON_VERTEX
LISTED_TETRAHEDRON_VERTEX = "#version 330 core\n#define LISTED" + _TETRAHEDRON_VERTEX
"""The same for a list of rows: place and look are fetched from the buffers by row."""
TRAVELLING_TETRAHEDRON_VERTEX = "#version 330 core\n#define TRAVELLING" + _TETRAHEDRON_VERTEX
"""The same for memories on their way: each comes from `start` (world units beside its place) after its `delay`."""

_STATES = """
vec3 voided(vec3 base) {                                           // 15 % of the saturation, 55 % lightness
    float low = min(base.r, min(base.g, base.b)), high = max(base.r, max(base.g, base.b));
    base = vec3(0.55) + 0.135 * ((base - low) / max(high - low, 1e-3) - 0.5);
    return base * (light_theme > 0.5 ? 1.25 : 0.85);
}
"""

TETRAHEDRON_FRAGMENT = (
    """#version 330 core
in vec3 edge; in vec3 eye_normal; in vec3 eye_position;
flat in uvec4 mark;
uniform vec3 palette[57]; uniform vec3 inhibited_color; uniform vec3 quarantine_color; uniform vec3 selection_color;
uniform float dimming; uniform float dim_share; uniform float reveal; uniform float fade;
uniform float fog_start; uniform float fog_end; uniform float pixel_ratio; uniform float light_theme;
out vec4 color;
"""
    + _BACKGROUND
    + _STATES
    + """
void main() {
    vec3 base = palette[min(mark.x, 56u)];
    uint state = mark.y;
    bool lit = (mark.z & 1u) != 0u && float(mark.w) / 255.0 <= reveal;
    bool selected = (mark.z & 2u) != 0u;
    bool hovered = (mark.z & 4u) != 0u;
    bool marked = (mark.z & 8u) != 0u;

    vec3 width = fwidth(edge);
    float coarse = max(max(width.x, width.y), width.z);
    float detail = 1.0 - smoothstep(0.10, 0.34, coarse);          // edges and hatch fade before they swamp the face

    if (state == 1u) base = voided(base);
    if (state == 2u || state == 4u) {                              // inhibited: red, hatched, readable without colour
        float stripe = fract((edge.x - edge.y) * 3.5 + 0.25);
        float soft = fwidth((edge.x - edge.y) * 3.5) + 1e-4;
        float dark = smoothstep(0.5 - soft, 0.5 + soft, stripe) * (1.0 - smoothstep(1.0 - soft, 1.0, stripe));
        vec3 hatched = mix(inhibited_color * 0.80, mix(inhibited_color * 1.15, inhibited_color * 0.28, dark), detail);
        base = mix(base, hatched, state == 4u ? fade : 1.0);       // on its way there: superseded just now
    }

    if (state == 3u) base = mix(vec3(dot(base, vec3(0.299, 0.587, 0.114))), base, 0.35) * 0.62;   // in quarantine

    vec3 normal = normalize(eye_normal);
    float key = max(dot(normal, normalize(vec3(-0.45, 0.70, 0.56))), 0.0);
    float fill = max(dot(normal, normalize(vec3(0.75, -0.15, 0.64))), 0.0);
    float rim = pow(1.0 - abs(dot(normal, normalize(-eye_position))), 3.0);
    float ambient = light_theme > 0.5 ? 0.60 : 0.40;
    float shade = ambient + 0.52 * key + 0.24 * fill;
    vec3 face = base * shade + rim * 0.10 * mix(base, vec3(1.0), 0.35);

    float heart = min(min(edge.x, edge.y), edge.z) * 3.0;          // 0 on an edge, 1 in the middle of the face
    face *= mix(1.06, 0.90, heart * detail);
    bool hit = lit && dimming > 0.0;
    vec3 inside = smoothstep(width * 0.35, width * (selected ? 2.6 : hit ? 2.0 : 1.5) * pixel_ratio, edge);
    float line = 1.0 - min(min(inside.x, inside.y), inside.z);
    vec3 edge_color = mix(face, light_theme > 0.5 ? vec3(1.0) : mix(base, vec3(1.0), 0.45), 0.55);
    if (hit) edge_color = mix(edge_color, light_theme > 0.5 ? base * 0.45 : mix(base, vec3(1.0), 0.8), dimming);
    if (state == 3u) {                                             // amber dashes, ten a face, readable without colour
        vec3 broad = smoothstep(width * 1.2, width * 3.0 * pixel_ratio, edge);
        vec3 along = step(0.45, fract(edge.yzx * 4.5));
        line = max(max((1.0 - broad.x) * along.x, (1.0 - broad.y) * along.y), (1.0 - broad.z) * along.z);
        edge_color = quarantine_color; detail = max(detail, 0.8);
    }
    if (hovered) { face = mix(face, vec3(1.0), 0.16); edge_color = mix(selection_color, base, 0.15); detail = 1.0; }
    if (marked) { face = mix(face, selection_color, 0.22); edge_color = selection_color; detail = max(detail, 0.75); }
    if (selected) { face = mix(face, vec3(1.0), 0.24); edge_color = selection_color; detail = 1.0; }
    vec3 shown = mix(face, edge_color, line * detail);

    vec3 behind = background();
    if (dimming > 0.0 && !lit && !selected && !hovered && !marked && state != 1u)
        shown = mix(shown, mix(behind, shown, dim_share), dimming);
    else if (dimming > 0.0 && lit)
        shown = mix(shown, shown * 1.12, dimming);
    float fog = smoothstep(fog_start, fog_end, -eye_position.z) * 0.72;
    if (lit || selected) fog *= 0.35;
    color = vec4(mix(shown, behind, fog), 1.0);
}
"""
)

FAR_VERTEX = """#version 330 core
layout(location = 4) in ivec3 voxel;
layout(location = 6) in uvec4 look;
uniform mat4 view; uniform mat4 projection;
uniform vec3 palette[57]; uniform vec3 inhibited_color; uniform vec3 quarantine_color; uniform vec3 selection_color;
uniform float dimming; uniform float reveal; uniform float dim_share; uniform float light_theme; uniform float fade;
uniform float fog_start; uniform float fog_end; uniform float pixels_a_world_unit; uniform float level_depth;
flat out vec4 shown;                                               // colour; share of the background in it
flat out float side;                                               // pixels across; negative: point downward
"""
"""A memory too far for its faces: one point, shaded at its vertex, so that its pixels cost next to nothing."""

FAR_VERTEX += _STATES
FAR_VERTEX += """
void main() {
    vec4 seen = view * vec4((vec3(voxel) + 0.5) * 0.70710678, 1.0);
    gl_Position = projection * seen;
    bool lit = (look.z & 1u) != 0u && float(look.w) / 255.0 <= reveal;
    bool chosen = (look.z & 14u) != 0u;
    if ((look.z & 16u) != 0u) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    float edge = pixels_a_world_unit / (level_depth > 0.0 ? level_depth : max(-seen.z, 1e-3));
    gl_PointSize = clamp(edge * 0.82, 1.0, 12.0);
    if (chosen || (dimming > 0.0 && lit)) gl_PointSize = max(gl_PointSize * 1.5, 4.0);
    vec3 base = palette[min(look.x, 56u)];
    if (look.y == 1u) base = voided(base);
    if (look.y == 2u) base = inhibited_color * 0.80;
    if (look.y == 4u) base = mix(base, inhibited_color * 0.80, fade);
    if (look.y == 3u) base = quarantine_color * 0.85;
    int turn = (voxel.x * 7 + voxel.y * 13 + voxel.z * 29) & 7;    // faces meet the light at many angles
    base *= (light_theme > 0.5 ? 0.74 : 0.62) + 0.055 * float(turn);
    if (chosen) base = mix(base, selection_color, 0.6);
    float behind = 0.0;
    if (dimming > 0.0 && !lit && !chosen && look.y != 1u) behind = dimming * (1.0 - dim_share);
    float fog = smoothstep(fog_start, fog_end, -seen.z) * 0.72;
    if (lit || chosen) fog *= 0.35;
    shown = vec4(base, 1.0 - (1.0 - behind) * (1.0 - fog));
    side = ((voxel.x + voxel.y + voxel.z) & 1) != 0 ? -gl_PointSize : gl_PointSize;
}
"""

FAR_FRAGMENT = (
    """#version 330 core
flat in vec4 shown; flat in float side;
out vec4 color;
"""
    + _BACKGROUND
    + """
void main() {
    float down = side > 0.0 ? gl_PointCoord.y : 1.0 - gl_PointCoord.y;
    if (abs(side) > 4.5 && abs(gl_PointCoord.x - 0.5) > 0.08 + 0.5 * down) discard;  // a triangle, once it can be one
    color = vec4(mix(shown.rgb, background(), shown.a), 1.0);
}
"""
)

HULL_VERTEX = """#version 330 core
layout(location = 0) in int cluster;
uniform samplerBuffer corners;                                     // x, y, z in the world; palette index
uniform mat4 view; uniform mat4 projection;
out vec3 eye_position; flat out int color_index;
void main() {
    vec4 corner = texelFetch(corners, cluster * 42 + gl_VertexID);
    vec4 seen = view * vec4(corner.xyz, 1.0);
    gl_Position = projection * seen;
    eye_position = seen.xyz;
    color_index = int(corner.w);
}
"""

HULL_FRAGMENT = (
    """#version 330 core
in vec3 eye_position; flat in int color_index;
uniform vec3 palette[57]; uniform float dimming; uniform float dim_share; uniform float light_theme;
uniform float fog_start; uniform float fog_end;
out vec4 color;
"""
    + _BACKGROUND
    + """
void main() {
    vec3 base = palette[color_index];
    vec3 normal = normalize(cross(dFdx(eye_position), dFdy(eye_position)));
    float key = max(dot(normal, normalize(vec3(-0.45, 0.70, 0.56))), 0.0);
    float fill = max(dot(normal, normalize(vec3(0.75, -0.15, 0.64))), 0.0);
    float rim = pow(1.0 - abs(normal.z), 3.0);
    vec3 shown = base * ((light_theme > 0.5 ? 0.62 : 0.42) + 0.50 * key + 0.22 * fill) + rim * 0.16 * base;
    shown = mix(shown, mix(background(), shown, dim_share), dimming);
    color = vec4(mix(shown, background(), smoothstep(fog_start, fog_end, -eye_position.z) * 0.72), 1.0);
}
"""
)

DOT_VERTEX = """#version 330 core
layout(location = 0) in vec3 position;
uniform mat4 view; uniform mat4 projection;
uniform float world_size; uniform float least_pixels; uniform float most_pixels; uniform float pixels_a_world_unit;
uniform float towards_eye;
uniform float level_depth;                                         // without perspective: the depth whose size all have
out float eye_depth;
void main() {
    vec4 seen = view * vec4(position, 1.0);
    seen.xyz *= 1.0 - towards_eye / max(length(seen.xyz), 1e-3);
    gl_Position = projection * seen;
    eye_depth = -seen.z;
    float depth = level_depth > 0.0 ? level_depth : max(eye_depth, 1e-3);
    gl_PointSize = clamp(world_size * pixels_a_world_unit / depth, least_pixels, most_pixels);
}
"""

DOT_FRAGMENT = """#version 330 core
in float eye_depth;
uniform vec3 dot_color; uniform float strength; uniform float softness; uniform float fade_start; uniform float fade_end;
out vec4 color;
void main() {
    float radius = length(gl_PointCoord * 2.0 - 1.0);
    float alpha = mix(1.0 - smoothstep(0.75, 1.0, radius), pow(max(0.0, 1.0 - radius), 1.6), softness);
    alpha *= strength * (1.0 - smoothstep(fade_start, fade_end, eye_depth));
    if (alpha < 0.004) discard;
    color = vec4(dot_color, alpha);
}
"""

BEACON_VERTEX = """#version 330 core
layout(location = 0) in vec3 position;
layout(location = 1) in float color_index;
layout(location = 2) in float turn;
uniform mat4 view; uniform mat4 projection;
uniform vec3 palette[57]; uniform vec3 inhibited_color;
uniform float reveal; uniform float pixels_a_world_unit; uniform float level_depth; uniform float pixel_ratio;
uniform float least_pixels;
flat out vec3 base; flat out float size; flat out float body; flat out float strength;
void main() {
    vec4 seen = view * vec4(position, 1.0);
    gl_Position = projection * seen;
    float edge = pixels_a_world_unit / (level_depth > 0.0 ? level_depth : max(-seen.z, 1e-3)) / pixel_ratio;
    float lit = smoothstep(0.0, 0.12, reveal - turn + 0.12 * step(0.999, reveal));
    body = lit * (1.0 - smoothstep(least_pixels, least_pixels * 1.5, edge));
    strength = lit * mix(0.62, 0.26, smoothstep(least_pixels, 60.0, edge));
    size = clamp(2.9 * edge, 38.0, 190.0) * pixel_ratio;
    gl_PointSize = size;
    base = color_index > 254.0 ? inhibited_color : palette[int(color_index)];
    if (lit <= 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
"""

BEACON_FRAGMENT = """#version 330 core
flat in vec3 base; flat in float size; flat in float body; flat in float strength;
uniform float least_pixels; uniform float pixel_ratio; uniform float light_theme;
out vec4 color;
float triangle(vec2 p, float radius) {                             // signed distance to an upright triangle
    return max(dot(vec2(abs(p.x), p.y), vec2(0.866, 0.5)), -p.y) - radius;
}
void main() {
    vec2 at = (gl_PointCoord * 2.0 - 1.0) * vec2(1.0, -1.0);
    float glow = strength * pow(max(0.0, 1.0 - length(at)), light_theme > 0.5 ? 1.9 : 2.4);
    float away = triangle(at * size * 0.5, least_pixels * 0.29 * pixel_ratio);
    float solid = body * (1.0 - smoothstep(-0.7, 0.7, away));
    float rim = smoothstep(-2.1, -0.7, away / pixel_ratio);
    vec3 bright = light_theme > 0.5 ? base * 0.45 : mix(base, vec3(1.0), 0.8);
    float alpha = max(glow, solid);
    if (alpha < 0.004) discard;
    color = vec4(mix(base, mix(base, bright, rim), step(glow, solid)), alpha);
}
"""
