"""Convolutions, pooling and products by oneDNN, where it is installed (`pip install tapeflow[onednn]`, on x86-64).

Intel's library writes machine code for each shape, with the processor's widest instructions. It is used through its C
interface, version 3.
"""
