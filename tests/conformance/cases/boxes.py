"""Boxes in images: non-maximum suppression, drawing, random parts, glimpses."""

import numpy as np
from case_helpers import everywhere

_rng = np.random.default_rng(11)
CORNERS = _rng.uniform(0.0, 1.0, (12, 4)).astype(np.float32)
SIZES = _rng.uniform(0.2, 0.5, (12, 2)).astype(np.float32)
BOXES = np.concatenate([CORNERS[:, :2] * 0.6, CORNERS[:, :2] * 0.6 + SIZES], 1)
SCORES = _rng.permutation(12).astype(np.float32) / 12
SHARED = _rng.uniform(0.0, 1.0, (12, 12)).astype(np.float32)
CLASSES = _rng.uniform(0.0, 1.0, (2, 12, 3)).astype(np.float32)
PICTURE = np.arange(1.0, 61.0, dtype=np.float32).reshape(2, 5, 6, 1)
OUTLINES = np.array([[[0.1, 0.2, 0.8, 0.7], [-0.3, 0.5, 0.4, 1.5]]] * 2, np.float32)


def _chosen(name, *inputs, **options):
    return lambda tf: everywhere(tf, lambda *xs: getattr(tf.image, name)(*xs, **options), *inputs)


def _drawn(depth, colours, boxes=OUTLINES, dtype=np.float32):
    images = np.zeros((2, 7, 8, depth), dtype)
    return lambda tf: everywhere(
        tf, lambda x, b: tf.image.draw_bounding_boxes(x, b, colours), images, boxes
    )


def _sampled(seed, boxes=((0.1, 0.2, 0.8, 0.7),), **options):
    return lambda tf: everywhere(
        tf,
        lambda seed: tf.image.stateless_sample_distorted_bounding_box(
            [50, 60, 3], [list(map(list, boxes))], seed, **options
        ),
        np.array(seed, np.int32),
    )


def _glimpse(size, offsets, **options):
    return lambda tf: everywhere(
        tf,
        lambda x, at: tf.image.extract_glimpse(x, size, at, noise="zero", **options),
        *(PICTURE, np.array(offsets, np.float32)),
    )


CASES = {
    "suppressed": _chosen("non_max_suppression", BOXES, SCORES, max_output_size=6),
    "suppressed_strictly": _chosen(
        "non_max_suppression", BOXES, SCORES, max_output_size=12, iou_threshold=0.0
    ),
    "suppressed_never": _chosen(
        "non_max_suppression", BOXES, SCORES, max_output_size=12, iou_threshold=1.0
    ),
    "suppressed_by_score": _chosen(
        "non_max_suppression", BOXES, SCORES, max_output_size=12, score_threshold=0.5
    ),
    "suppressed_halves": _chosen(
        "non_max_suppression",
        BOXES.astype(np.float16),
        SCORES.astype(np.float16),
        max_output_size=12,
    ),
    "suppressed_turned_boxes": _chosen(
        "non_max_suppression", BOXES[:, [2, 1, 0, 3]], SCORES, max_output_size=12
    ),
    "suppressed_with_ties": _chosen(
        "non_max_suppression", BOXES, np.round(SCORES * 3), max_output_size=12
    ),
    "suppressed_none": _chosen("non_max_suppression", BOXES, SCORES, max_output_size=0),
    "suppressed_empty": _chosen("non_max_suppression", BOXES[:0], SCORES[:0], max_output_size=3),
    "suppressed_negative_size": _chosen("non_max_suppression", BOXES, SCORES, max_output_size=-1),
    "suppressed_bad_threshold": _chosen(
        "non_max_suppression", BOXES, SCORES, max_output_size=2, iou_threshold=1.5
    ),
    "suppressed_bad_shapes": _chosen("non_max_suppression", BOXES, SCORES[:3], max_output_size=2),
    "suppressed_doubles": _chosen(
        "non_max_suppression",
        BOXES.astype(np.float64),
        SCORES.astype(np.float64),
        max_output_size=2,
    ),
    "with_scores": _chosen("non_max_suppression_with_scores", BOXES, SCORES, max_output_size=6),
    "with_scores_softly": _chosen(
        "non_max_suppression_with_scores", BOXES, SCORES, max_output_size=12, soft_nms_sigma=0.5
    ),
    "with_scores_softly_by_score": _chosen(
        *("non_max_suppression_with_scores", BOXES, SCORES),
        max_output_size=12,
        soft_nms_sigma=0.2,
        score_threshold=0.3,
        iou_threshold=1.0,
    ),
    "overlaps": _chosen("non_max_suppression_overlaps", SHARED, SCORES, max_output_size=6),
    "overlaps_loosely": _chosen(
        "non_max_suppression_overlaps",
        SHARED,
        SCORES,
        max_output_size=6,
        overlap_threshold=0.9,
        score_threshold=0.2,
    ),
    "padded": _chosen("non_max_suppression_padded", BOXES, SCORES, max_output_size=5),
    "padded_to_size": _chosen(
        "non_max_suppression_padded", BOXES, SCORES, max_output_size=12, pad_to_max_output_size=True
    ),
    "padded_batch": _chosen(
        *("non_max_suppression_padded", np.stack([BOXES, BOXES[::-1]]), np.stack([SCORES, SCORES])),
        max_output_size=8,
        pad_to_max_output_size=True,
        iou_threshold=0.3,
        score_threshold=0.1,
    ),
    "padded_batch_without_padding": _chosen(
        "non_max_suppression_padded", BOXES[None], SCORES[None], max_output_size=4
    ),
    "combined": _chosen(
        *("combined_non_max_suppression", np.stack([BOXES, BOXES + 0.3])[:, :, None], CLASSES),
        max_output_size_per_class=3,
        max_total_size=5,
    ),
    "combined_own_boxes": _chosen(
        *(
            "combined_non_max_suppression",
            np.stack([np.stack([BOXES, BOXES * 2, BOXES * 0.5], 1)] * 2),
            CLASSES,
        ),
        max_output_size_per_class=2,
        max_total_size=20,
        pad_per_class=True,
        clip_boxes=False,
        score_threshold=0.4,
    ),
    "drawn": _drawn(3, [[1.0, 0.5, 0.25]]),
    "drawn_default": _drawn(4, None),
    "drawn_default_grey": _drawn(1, None),
    "drawn_turns": _drawn(3, [[1.0, 0.5, 0.25], [0.1, 0.2, 0.3]]),
    "drawn_turned_box": _drawn(1, [[1.0]], OUTLINES[:, :, [2, 3, 0, 1]]),
    "drawn_two_channels": _drawn(2, None),
    "drawn_wrong_boxes": _drawn(3, None, OUTLINES[:1]),
    **{f"sampled_{i}": _sampled([i, i + 1]) for i in range(8)},
    **{
        f"sampled_far_{i}": _sampled(
            [7, i],
            min_object_covered=0.5,
            aspect_ratio_range=[0.5, 2.0],
            area_range=[0.1, 0.9],
            max_attempts=10,
        )
        for i in range(8)
    },
    "sampled_two_objects": _sampled(
        [3, 4], ((0.1, 0.2, 0.3, 0.3), (0.5, 0.5, 1.0, 1.0)), min_object_covered=0.9
    ),
    "sampled_nothing": _sampled([1, 2], ()),
    "sampled_bad_box": _sampled([1, 2], ((0.5, 0.2, 0.1, 0.7),)),
    "sampled_bad_area": _sampled([1, 2], area_range=[0.5, 1.5]),
    "sampled_whole_image": lambda tf: tuple(
        tf.image.stateless_sample_distorted_bounding_box(
            [20, 30, 3],
            np.zeros((1, 0, 4), np.float32),
            [5, 6],
            use_image_if_no_bounding_boxes=True,
        )
    ),
    "glimpse": _glimpse([3, 3], [[0.0, 0.0], [-1.0, 0.5]]),
    "glimpse_of_corners": _glimpse(
        [3, 2], [[0.0, 2.0], [1.0, 5.0]], centered=False, normalized=False
    ),
    "glimpse_of_parts": _glimpse([3, 2], [[0.0, 0.5], [0.9, 0.1]], centered=False),
    "glimpse_beyond": _glimpse([4, 7], [[1.0, 1.0], [-1.0, -1.0]]),
}
