"""What one scale of the input does to encoders, and which one the presets have therefore."""

from reproduction.encoder_scale.measure import TRAININGS
from reproduction.encoder_scale.tables import page
from reproduction.study import Study

STUDY = Study("encoder_scale", TRAININGS.measures(), {"encoder_scale": page})
