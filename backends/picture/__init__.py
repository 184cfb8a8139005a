"""Programs as pictures: boxes in frames with arrows. The drawing targets write them down."""
