"""Other weights with the same prediction: the farthest maps from those of the model.

`Setting`, `Search`        what is asked, and how long                               setting.py
`free_distances`           of all maps that the activation can produce               free.py
`producible_distances`     of those that another query produces from the same keys      producible.py
`same_output_distances`    among those with the same output of the head                 same_output.py
`Found`                    what was found of each text                               free.py
`Judgement`                what it says: findings and words                          judging.py
search                     start after start until the best agree; one climb         waves.py, climb.py
`QueryPlane`               all queries, where they have one or two numbers           plane.py
`farthest_vertex`          exactly, where the output is linear in the weights        vertices.py
`LinearAdversary`          maps in a linear readout                                  linear_adversary.py
`ForwardAdversary`         maps anywhere in a model                                  forward_adversary.py
starts                     random numbers of a text, mixtures                        draws.py, mixtures.py
distances                  how far maps are apart                                    distances.py
families                   what an activation can produce                            weight_families.py
"""

from typing import TYPE_CHECKING

from glasshead.audits.adversary.judging import Judgement
from glasshead.audits.adversary.search import Search
from glasshead.lazy import lazy_exports

if TYPE_CHECKING:  # judges need no torch
    from glasshead.audits.adversary.free import Found, Seeds, Texts, free_distances
    from glasshead.audits.adversary.producible import producible_distances, unproducible_reason
    from glasshead.audits.adversary.same_output import farthest_same_output, same_output_distances
    from glasshead.audits.adversary.setting import Setting

__getattr__, __dir__ = lazy_exports(globals())

__all__ = [
    "Found",
    "Judgement",
    "Search",
    "Seeds",
    "Setting",
    "Texts",
    "farthest_same_output",
    "free_distances",
    "producible_distances",
    "same_output_distances",
    "unproducible_reason",
]
