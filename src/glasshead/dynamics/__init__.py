"""How attention comes about: training dynamics in closed form, and a watcher that records them."""

from glasshead.dynamics.forms import FORMS
from glasshead.dynamics.observe import watch
from glasshead.dynamics.watcher import Watcher

__all__ = ["FORMS", "Watcher", "watch"]
