"""The site, which `make site` builds from `docs/` and from the explanations of the diagnostics."""
