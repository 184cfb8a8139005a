"""What `make golden`, `make site` and `make release` run."""
