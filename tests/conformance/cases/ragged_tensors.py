# ruff: noqa: E501 - lines of expressions
"""Ragged tensors: how they are made, what they are made of, and their parts."""

from case_helpers import expressions

NAMES = {
    "R": "tf.RaggedTensor",
    "rt": "tf.ragged.constant([[[1, 2], [3]], [], [[], [4, 5, 6]]])",
    "r2": "tf.ragged.constant([[1.0, 2.0, 3.0], [], [4.0]])",
}

CASES = expressions(
    NAMES,
    r"""
R.from_row_splits([1,2,3],[0,2,2])
R.from_row_splits([1,2,3],[1,3])
R.from_row_splits([1,2,3],[0,2,1,3])
R.from_row_splits([1,2,3],[[0,3]])
R.from_row_splits([1,2,3],[0.,3.])
R.from_row_splits([1,2,3],[])
R.from_row_lengths([1,2,3],[1,1])
R.from_row_lengths([1,2,3],[-1,4])
R.from_value_rowids([1,2,3],[0,2,1])
R.from_value_rowids([1,2,3],[0,0,2],nrows=2)
R.from_value_rowids([1,2,3],[0,0,2],nrows=-1)
R.from_value_rowids([1,2,3],[-1,0,2])
R.from_value_rowids([1,2,3],[0,0])
R.from_value_rowids([1,2,3],[0,0,2])
R.from_value_rowids([],[])
R.from_value_rowids([],[],nrows=2)
R.from_row_starts([1,2,3],[1,2])
R.from_row_starts([1,2,3],[0,2])
R.from_row_starts([],[])
R.from_row_limits([1,2,3],[1,2])
R.from_row_limits([1,2,3],[1,3])
R.from_uniform_row_length([1,2,3],2)
R.from_uniform_row_length([],0)
R.from_uniform_row_length([],0, nrows=3)
R.from_uniform_row_length([1,2,3,4],2)
R.from_uniform_row_length([1,2,3,4],-2)
R.from_uniform_row_length([1,2,3,4],2).shape
R.from_uniform_row_length([1,2,3,4],2).uniform_row_length
R.from_uniform_row_length(tf.ragged.constant([[1],[2,3],[],[4]]),2)
R.from_uniform_row_length(tf.ragged.constant([[1],[2,3],[],[4]]),2).shape
R.from_row_splits([1,2,3],np.array([0,3],np.int32)).row_splits
R.from_row_splits([1,2,3],tf.constant([0,3])).row_splits
R.from_nested_row_splits([1,2,3],[[0,1,2],[0,2,3]])
R.from_nested_row_lengths([1,2,3],[[1,1],[2,1]])
R.from_nested_value_rowids([1,2,3],[[0,1],[0,0,1]],[3,2])
R.from_nested_row_splits(1, [0,1])
R.from_nested_row_splits([1,2],tf.constant([0,1]))
R([1,2],[0,1])
tf.ragged.constant([[1,2],[3]])
tf.ragged.constant([[1,[2]],[3]])
tf.ragged.constant([])
tf.ragged.constant([[],[]])
tf.ragged.constant([[],[[]]])
tf.ragged.constant(3)
tf.ragged.constant([1,2])
tf.ragged.constant([[1,2],[3]], dtype=tf.float32)
tf.ragged.constant([[[1,2],[3,4]],[[5,6]]], ragged_rank=1)
tf.ragged.constant([[[1,2],[3,4]],[[5,6]]], inner_shape=(2,))
tf.ragged.constant([[[1,2],[3,4]],[[5,6]]], ragged_rank=1).shape
tf.ragged.constant([["a","bc"],["d"]])
tf.ragged.constant([[1.5,2],[3]])
tf.ragged.constant([[1,2],[3]], row_splits_dtype=tf.int32).row_splits
tf.ragged.constant([[],[1]], ragged_rank=2)
tf.ragged.constant([[1,2],[3]],ragged_rank=0)
tf.ragged.constant([[1,2],[3,"a"]])
tf.ragged.constant([[[]],[]], dtype=tf.int32)
tf.ragged.constant([np.array([1,2]),np.array([3])])
tf.ragged.constant([[1,2],[2**40]])
tf.ragged.constant([[True],[]])
tf.ragged.constant([[1.5,float('nan')],[1e10, 3]])
rt
rt.shape, rt.ragged_rank, rt.flat_values, rt.values, rt.nested_row_splits, rt.dtype
rt.row_lengths(), rt.row_lengths(axis=2), rt.nested_row_lengths(), rt.row_lengths(axis=-1), rt.row_lengths(0)
rt.value_rowids(), rt.nested_value_rowids(), rt.nrows(), rt.nrows(out_type=tf.int32), rt.row_starts(), rt.row_limits()
rt.bounding_shape(), rt.bounding_shape(axis=1), rt.bounding_shape(axis=[0,2]), rt.bounding_shape(out_type=tf.int32)
rt.row_lengths(axis=3)
rt.with_values(tf.ragged.constant([[1],[2],[3],[4]]))
rt.with_flat_values([1.,2.,3.,4.,5.,6.])
rt.with_flat_values([1.,2.])
rt.with_row_splits_dtype(tf.int32).row_splits
rt.with_row_splits_dtype(tf.float32)
rt.to_list(), repr(rt.numpy())
r2.to_list(), repr(r2.numpy())
rt.to_tensor(), r2.to_tensor(), r2.to_tensor(default_value=-1.), r2.to_tensor(shape=[None,2]), r2.to_tensor(shape=[5,4]), r2.to_tensor(shape=[2,2])
rt.to_tensor(7), rt.to_tensor(shape=[None,None,2])
r2.to_tensor(default_value=1)
r2.to_tensor(default_value=[1.,2.])
tf.ragged.constant([[[1,2]],[]],ragged_rank=1).to_tensor(default_value=[7,8])
tf.ragged.constant([["a"],[]]).to_tensor()
r2.to_tensor(shape=[2])
R.from_tensor([[1,2],[3,4]])
R.from_tensor([[1,2],[3,4]]).shape
R.from_tensor([[1,2,0],[3,0,0]],padding=0)
R.from_tensor([[1,2,0],[3,0,0]],lengths=[2,1])
R.from_tensor([[1,2,0],[3,0,0]],lengths=[5,-1])
R.from_tensor([[[1,0],[2,3]],[[4,5],[0,0]]],padding=[0,0])
R.from_tensor([[[1,0],[2,3]],[[4,5],[0,0]]],ragged_rank=2)
R.from_tensor([[[1,0],[2,3]],[[4,5],[0,0]]],ragged_rank=2,padding=0)
R.from_tensor([[[1,0],[2,3]],[[4,5],[0,0]]],lengths=([1,2],[1,0,2]))
R.from_tensor([1,2])
R.from_tensor([[1,2]],lengths=[1],padding=0)
R.from_tensor([[1,2]],ragged_rank=0)
R.from_tensor([[1,2],[3,4]],row_splits_dtype=tf.int32).row_splits
rt.merge_dims(0,1), rt.merge_dims(1,2), rt.merge_dims(0,2), rt.merge_dims(-2,-1), rt.merge_dims(1,1)
rt.merge_dims(2,1)
rt.merge_dims(0,3)
tf.ragged.constant([[[1,2],[3,4]],[[5,6]]],ragged_rank=1).merge_dims(1,2)
tf.ragged.constant([[[1,2],[3,4]],[[5,6]]],ragged_rank=1).merge_dims(0,1)
rt[0], rt[1], rt[-1], rt[0,0], rt[0,0,1], rt[2,1,-1], rt[2][1]
rt[1:], rt[:2], rt[::2], rt[::-1], rt[5:], rt[:0], rt[-2:]
rt[:,:1], rt[:,1:], rt[:,-1:], rt[:,::-1], rt[:,:,:1], rt[:,:,::-1], rt[...,1:], rt[:,:-1], rt[1:,:1], rt[:,::2], rt[:,5:], rt[:, :, 1::2]
rt[:,0]
rt[:,:,0]
rt[3]
rt[0,5]
rt[tf.newaxis], rt[:,tf.newaxis], rt[:,:,tf.newaxis], rt[...,tf.newaxis], rt[0,tf.newaxis]
rt[tf.newaxis].shape, rt[:,tf.newaxis].shape, rt[:,:,tf.newaxis].shape, rt[...,tf.newaxis].shape
rt[tf.constant(2)], rt[tf.constant(1):]
rt[1.5]
rt["a"]
rt[...]
rt[..., ...]
rt[0:1, tf.constant(0):tf.constant(1)]
R.from_uniform_row_length(tf.ragged.constant([[1],[2,3],[],[4]]),2)[:,1]
R.from_uniform_row_length(tf.ragged.constant([[1],[2,3],[],[4]]),2)[:,1:].shape
R.from_uniform_row_length(tf.ragged.constant([[1],[2,3],[],[4]]),2)[:,5]
tf.ragged.constant([[[1,2],[3,4]],[[5,6]]],ragged_rank=1)[:,:,0]
tf.ragged.constant([[[1,2],[3,4]],[[5,6]]],ragged_rank=1)[:,:,0].shape
list(r2)
tf.ragged.range([3,0,2])
tf.ragged.range([0,5,8],[3,3,12])
tf.ragged.range([0,5,8],[3,3,12],2)
tf.ragged.range([0.,5.],[1.,4.],[0.3,-0.5])
tf.ragged.range(0,[3,2])
tf.ragged.range([1,2],[3,4],0)
tf.ragged.range(5)
tf.ragged.range([3],dtype=tf.int64,row_splits_dtype=tf.int32).row_splits
tf.ragged.row_splits_to_segment_ids([0,3,3,5])
tf.ragged.segment_ids_to_row_splits([0,0,2])
tf.ragged.segment_ids_to_row_splits([0,0,2],num_segments=5)
tf.type_spec_from_value(rt), tf.type_spec_from_value(r2)
tf.RaggedTensorSpec([None,None],tf.int32), tf.RaggedTensorSpec(ragged_rank=1), tf.RaggedTensorSpec([2,None,3],ragged_rank=1)
tf.RaggedTensorSpec()
tf.RaggedTensorSpec([2,None],ragged_rank=2)
tf.RaggedTensorSpec([2,None],ragged_rank=1.5)
tf.RaggedTensorSpec([None,None],tf.int32).is_compatible_with(rt), tf.RaggedTensorSpec([None,None],tf.float32).is_compatible_with(r2), tf.RaggedTensorSpec([2,None]).is_compatible_with(r2)
tf.RaggedTensorSpec.from_value(r2)
tf.nest.flatten(rt,expand_composites=True)
tf.nest.map_structure(lambda x: x, r2, expand_composites=True)
tf.is_tensor(rt)
tf.convert_to_tensor(rt)
hash(rt)
bool(rt)
len(rt)
""",
)
