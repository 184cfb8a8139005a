"""Common to commands: documents, targets, pictures, reports and delivery."""
