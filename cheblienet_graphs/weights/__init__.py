"""Edge weights from squared distances."""
