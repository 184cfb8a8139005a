"""The speed of rdc, as ratios against yardsticks measured in the same run: `make bench`, docs/performance.md."""
