"""Generated files: compiling, placing, writing and verifying them."""
