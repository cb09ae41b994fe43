"""What tests of commands share."""

from command_fixtures import ray_address, ray_folder, reviews, tiny, undrawn  # noqa: F401
