"""Other weights with the same prediction: the farthest maps from those of the model.

`Setting`, `Search`        what is asked, and how long                               setting.py, ascent.py
`Effort`                   starts, twice, four times, … until that gains nothing     doublings.py
`free_distances`           of all maps that the activation can produce               free.py
`producible_distances`     of those that another query draws from the same keys      producible.py
`farthest_same_output`     of those with the same output of the head                 same_output.py
`farthest_vertex`          exactly, where the output is linear in the weights        vertices.py
`LinearAdversary`          maps in a linear readout                                  linear_adversary.py
`ForwardAdversary`         maps anywhere in a model                                  forward_adversary.py
distances                  how far maps are apart                                    distances.py
families                   what an activation can produce                            weight_families.py
"""

from glasshead.audits.adversary.ascent import Search
from glasshead.audits.adversary.doublings import Effort
from glasshead.audits.adversary.free import Texts, free_distances
from glasshead.audits.adversary.producible import producible_distances, unproducible_reason
from glasshead.audits.adversary.same_output import farthest_same_output
from glasshead.audits.adversary.setting import Setting

__all__ = [
    "Effort",
    "Search",
    "Setting",
    "Texts",
    "farthest_same_output",
    "free_distances",
    "producible_distances",
    "unproducible_reason",
]
