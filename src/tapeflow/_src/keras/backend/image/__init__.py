"""Operations on images: `keras.ops.image`."""

from tapeflow._src.keras.backend.image.color import (
    hsv_to_rgb as hsv_to_rgb,
    rgb_to_grayscale as rgb_to_grayscale,
    rgb_to_hsv as rgb_to_hsv,
)
from tapeflow._src.keras.backend.image.filters import (
    gaussian_blur as gaussian_blur,
    sobel_edges as sobel_edges,
)
from tapeflow._src.keras.backend.image.geometry import (
    AFFINE_TRANSFORM_FILL_MODES as AFFINE_TRANSFORM_FILL_MODES,
    AFFINE_TRANSFORM_INTERPOLATIONS as AFFINE_TRANSFORM_INTERPOLATIONS,
    MAP_COORDINATES_FILL_MODES as MAP_COORDINATES_FILL_MODES,
    affine_transform as affine_transform,
    compute_homography_matrix as compute_homography_matrix,
    elastic_transform as elastic_transform,
    map_coordinates as map_coordinates,
    perspective_transform as perspective_transform,
)
from tapeflow._src.keras.backend.image.resizing import (
    RESIZE_INTERPOLATIONS as RESIZE_INTERPOLATIONS,
    SCALE_AND_TRANSLATE_METHODS as SCALE_AND_TRANSLATE_METHODS,
    resize as resize,
    scale_and_translate as scale_and_translate,
)
