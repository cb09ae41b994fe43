"""What do the mechanisms cost beside softmax by PyTorch, and the native kernel?"""

from reproduction.speed.measure import measure_attention, measure_kernel, measure_long
from reproduction.speed.tables import attention_page, native_page
from reproduction.study import Study

STUDY = Study(
    "speed",
    {"attention": measure_attention, "attention_long": measure_long, "native": measure_kernel},
    {"attention": attention_page, "native": native_page},
)
