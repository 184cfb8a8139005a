"""Programs as pictures: boxes in frames with arrows, which the targets that draw write down."""
