"""The data behind the figures: what they show, as numbers. Nothing here draws."""
