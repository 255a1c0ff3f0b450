"""All rows for sparse tensors: whoever imports this has them, for a graph that names them."""

from tapeflow._src.sparse import crossing, ctc_decoding, edit_distance, serializing, sets

__all__ = ["crossing", "ctc_decoding", "edit_distance", "serializing", "sets"]
