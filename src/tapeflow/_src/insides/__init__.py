"""What is used of other libraries beyond what they promise, each with what happens without it: see README.md."""
