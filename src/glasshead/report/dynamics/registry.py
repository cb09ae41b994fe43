"""Every picture of a history by name, as the command line and the page ask for it."""

from collections.abc import Callable
from dataclasses import dataclass

from glasshead.errors import InputError
from glasshead.registry import Registry
from glasshead.report.dynamics.contexts import contexts
from glasshead.report.dynamics.curves import couplings, layers, norms, polarities, scores, training, weights
from glasshead.report.dynamics.ledger import group_ledgers, token_ledgers
from glasshead.report.dynamics.picture import Picture
from glasshead.report.dynamics.products import boxes, movers, products
from glasshead.report.dynamics.terms import terms
from glasshead.report.dynamics.tokens import token_scatter, tokens
from glasshead.results import History


@dataclass(frozen=True)
class Asked:
    """Chosen tokens, all of them followed, and the step of what is shown at one step (else the last)."""

    tokens: tuple[str, ...] = ()
    step: int | None = None


Drawer = Callable[[History, Asked], Picture]
PICTURES: Registry[Drawer] = Registry("picture")
PICTURES.register("polarity")(lambda history, asked: polarities(history))
PICTURES.register("scores")(lambda history, asked: scores(history))
PICTURES.register("weights")(lambda history, asked: weights(history))
PICTURES.register("training")(lambda history, asked: training(history))
PICTURES.register("coupling")(lambda history, asked: couplings(history))
PICTURES.register("norms")(lambda history, asked: norms(history))
PICTURES.register("products")(lambda history, asked: products(history))
PICTURES.register("boxes")(lambda history, asked: boxes(history, asked.step))
PICTURES.register("product-rates")(lambda history, asked: movers(history))
PICTURES.register("terms")(lambda history, asked: terms(history))
PICTURES.register("layers")(lambda history, asked: layers(history))
PICTURES.register("scatter")(lambda history, asked: token_scatter(history, asked.tokens, asked.step))
PICTURES.register("contexts")(lambda history, asked: contexts(history, asked.tokens))


@PICTURES.register("ledger")
def ledger(history: History, asked: Asked) -> Picture:
    """Of the chosen tokens, else of a mean token of every group."""
    return token_ledgers(history, asked.tokens) if asked.tokens else group_ledgers(history)


@PICTURES.register("tokens")
def token_curves(history: History, asked: Asked) -> Picture:
    """Of the chosen tokens.

    Raises:
        InputError: if none was chosen, or too many.
    """
    if not asked.tokens:
        raise InputError("the picture of tokens is one of chosen tokens: name one")
    return tokens(history, asked.tokens)
