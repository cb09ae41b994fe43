"""A mechanism is a word or a spec."""

import json

import glasshead

SPECS = [
    "tanhmax",
    "tanhmax+distance-aware",
    "cosformer",
    {"position": {"name": "distance-aware", "mapping": "clip", "threshold": 0.5}},
    {"activation": "tanhmax", "position": {"name": "distance-aware", "adjust": "signed-multiply"}},
]
for spec in SPECS:
    mechanism = glasshead.mechanism(spec, num_heads=4, head_dim=16)
    print(mechanism.name, json.dumps(mechanism.spec))

for mistake in ("tanhmx", {"position": {"name": "distance-aware", "maping": "clip"}}):
    try:
        glasshead.mechanism(mistake, num_heads=4, head_dim=16)
    except glasshead.InputError as error:
        print("error:", error)
