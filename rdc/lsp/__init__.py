"""The language server: answers editors about open documents."""
