"""Models whose gradients and score flow are known in closed form, one file each."""

from glasshead.papers.dynamics.forms.additive import Additive as Additive
from glasshead.papers.dynamics.forms.additive import linear_terms as linear_terms
from glasshead.papers.dynamics.forms.affine import Affine as Affine
from glasshead.papers.dynamics.forms.dot_product import DotProduct as DotProduct
from glasshead.papers.dynamics.forms.form import FORMS as FORMS
from glasshead.papers.dynamics.forms.form import Batch as Batch
from glasshead.papers.dynamics.forms.form import ClosedForm as ClosedForm
from glasshead.papers.dynamics.forms.form import FormParameters as Parameters
from glasshead.papers.dynamics.forms.form import OutputGradients as OutputGradients
from glasshead.papers.dynamics.forms.form import ScoreFlow as ScoreFlow
from glasshead.papers.dynamics.forms.form import TokenFunctions as Tokens
from glasshead.papers.dynamics.forms.form import directional_change as directional_change
from glasshead.papers.dynamics.forms.form import form_gradients as gradients
from glasshead.papers.dynamics.forms.form import output_gradients as output_gradients
from glasshead.papers.dynamics.forms.form import score_flow as score_flow
