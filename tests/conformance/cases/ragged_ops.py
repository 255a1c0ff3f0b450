# ruff: noqa: E501 - lines of expressions
"""Ops on ragged tensors: elementwise, with broadcasting, reductions, joining, gathering, functions of rows."""

from case_helpers import expressions

NAMES = {
    "a": "tf.ragged.constant([[1.,2.],[3.],[],[4.,5.,6.]])",
    "b": "tf.ragged.constant([[10.,20.],[30.],[],[40.,50.,60.]])",
    "i": "tf.ragged.constant([[3,1],[],[2]])",
    "rt": "tf.ragged.constant([[[1,2],[3]],[],[[],[4,5,6]]])",
    "u": "tf.ragged.constant([[[1.,2.],[3.,4.]],[],[[5.,6.]]],ragged_rank=1)",
}

CASES = expressions(
    NAMES,
    """
a+b, a-b, a*b, a/b, b//a, b%a, a**2., -a, abs(a), a+1., 1.+a, 2.*a, 1./a, 3.-a
a<b, a>2., a==b, a!=a, a<=2., a>=2., a==None
a+tf.constant(1.), tf.constant(1.)+a, tf.constant([[1.],[2.],[3.],[4.]])+a, a+tf.constant([[1.],[2.],[3.],[4.]]), a+[[1.],[2.],[3.],[4.]], a*tf.constant([[2.]])
a+tf.constant([1.,2.])
a+tf.ragged.constant([[1.],[2.],[3.],[4.]])
a+tf.ragged.constant([[1.,2.]])
i+rt
rt+1, rt+tf.constant([[[1]],[[2]],[[3]]]), rt*rt
u+1., u+[10.,20.], u+tf.constant([[[1.]],[[2.]],[[3.]]]), u*u
u+tf.ragged.constant([[[1.],[2.]],[],[[3.]]],ragged_rank=1)
(a>2.)&(a<5.), ~(a>2.), (a>2.)|(a<1.), (a>2.)^(a<5.)
tf.sin(a), tf.abs(i), tf.sqrt(a), tf.math.square(i), tf.cast(i,tf.float32), tf.nn.relu(a-3.), tf.zeros_like(a), tf.ones_like(i), tf.clip_by_value(a,2.,4.), tf.round(a/2.), tf.sigmoid(a*0.)
tf.add(a,b), tf.maximum(a,3.), tf.minimum(3.,a), tf.math.subtract(1.,a), tf.pow(a,2.), tf.equal(a,b), tf.math.squared_difference(a,b), tf.math.divide_no_nan(a,b), tf.logical_and(a>1.,a<5.), tf.add(x=a,y=1.), tf.sin(x=a)
tf.add_n([a,b,a])
tf.add(a, 1)
tf.reduce_sum(a), tf.reduce_sum(a,axis=0), tf.reduce_sum(a,axis=1), tf.reduce_sum(a,axis=-1), tf.reduce_sum(a,axis=1,keepdims=True), tf.reduce_sum(a,axis=[0,1]), tf.reduce_sum(a,keepdims=True), tf.reduce_sum(a,axis=0,keepdims=True)
tf.reduce_mean(a), tf.reduce_mean(a,axis=0), tf.reduce_mean(a,axis=1), tf.reduce_mean(i,axis=1), tf.reduce_mean(a,axis=[0,1])
tf.reduce_max(a,1), tf.reduce_min(a,1), tf.reduce_prod(a,1), tf.reduce_max(i,1), tf.reduce_max(a), tf.reduce_max(a,0)
tf.reduce_any(a>3.,axis=1), tf.reduce_all(a>3.,axis=1), tf.reduce_any(a>3.), tf.reduce_all(a>3.,axis=0)
tf.reduce_sum(rt,axis=0), tf.reduce_sum(rt,axis=1), tf.reduce_sum(rt,axis=2), tf.reduce_sum(rt,axis=[1,2]), tf.reduce_sum(rt,axis=[0,2]), tf.reduce_sum(rt,axis=[0,1,2]), tf.reduce_sum(rt,axis=2,keepdims=True), tf.reduce_sum(rt,axis=1,keepdims=True)
tf.reduce_sum(u,axis=0), tf.reduce_sum(u,axis=1), tf.reduce_sum(u,axis=2), tf.reduce_max(u,axis=1)
tf.reduce_variance(a,axis=1) if hasattr(tf,'reduce_variance') else tf.math.reduce_variance(tf.ragged.constant([[1.,2.],[3.],[4.,6.]]),axis=1)
tf.math.reduce_variance(a), tf.math.reduce_std(tf.ragged.constant([[1.,2.],[3.],[4.,6.]]),axis=1), tf.math.reduce_variance(tf.ragged.constant([[1.,2.],[3.],[4.,6.]]),axis=0)
tf.reduce_sum(a,axis=2)
tf.concat([a,b],axis=0), tf.concat([a,b],axis=1), tf.concat([rt,rt],axis=1), tf.concat([rt,rt],axis=2), tf.concat([rt,rt],axis=0), tf.concat([a],axis=0), tf.concat([a,b,a],axis=-1)
tf.concat([i,tf.constant([[7,8],[9,10]])],axis=0), tf.concat([i,tf.constant([[7,8],[9,10],[11,12]])],axis=1)
tf.concat([i,tf.constant([[7,8],[9,10]])],axis=1)
tf.concat([a,rt],axis=0)
tf.stack([a,b]), tf.stack([a,b],axis=1), tf.stack([a,b],axis=2), tf.ragged.stack([tf.constant([1,2]),tf.constant([3])]), tf.ragged.stack([1,2]), tf.ragged.stack([a]), tf.ragged.stack([tf.constant([1,2]),tf.constant([3,4])],axis=1)
tf.stack([a,b]).shape, tf.stack([a,b],axis=1).shape, tf.stack([a,b],axis=2).shape, tf.ragged.stack([tf.constant([[1,2]]),tf.constant([[3,4]])]).shape
tf.expand_dims(a,0), tf.expand_dims(a,1), tf.expand_dims(a,2), tf.expand_dims(a,-1), tf.expand_dims(rt,-2)
tf.expand_dims(a,0).shape, tf.expand_dims(a,1).shape, tf.expand_dims(a,2).shape
tf.expand_dims(a,4)
tf.squeeze(tf.expand_dims(a,0),0), tf.squeeze(tf.expand_dims(a,1),1), tf.squeeze(tf.expand_dims(a,2),axis=[2])
tf.squeeze(a,0)
tf.squeeze(a)
tf.tile(a,[1,2]), tf.tile(a,[2,1]), tf.tile(i,[2,2]), tf.tile(rt,[1,2,1]), tf.tile(rt,[1,1,2]), tf.tile(u,[1,1,2]), tf.tile(a,[1,0])
tf.gather(a,[2,0]), tf.gather(a,0), tf.gather(a,[[0,1],[3,2]]), tf.gather(a,tf.ragged.constant([[0],[],[3,1]])), tf.gather([10,20,30,40],i), tf.gather(rt,[2,2,0]), tf.gather([[1,2],[3,4],[5,6],[7,8]],i)
tf.gather(a,tf.ragged.constant([[1],[0],[],[2,0]]),batch_dims=1), tf.gather(tf.constant([[1,2,3],[4,5,6]]),tf.ragged.constant([[0,2],[1]]),batch_dims=1)
tf.gather(a,[5])
tf.gather_nd(a,[[0,1],[3,2]]), tf.gather_nd(a,[[0],[3]]), tf.gather_nd(rt,[[0,0,1],[2,1,2]]), tf.gather_nd(rt,[[0,0],[2,1]]), tf.gather_nd(a,[0,1])
tf.where(a>2.), tf.where(a>2.,a,-a), tf.where(a>2.,a,0.), tf.where(rt>2)
tf.where(a>2.,a)
tf.one_hot(i,4), tf.one_hot(i,3,on_value=5,off_value=-1)
tf.reverse(a,[0]), tf.reverse(a,[1]), tf.reverse(rt,[0,2]), tf.reverse(a,[-1])
tf.size(a), tf.rank(a), tf.size(rt,out_type=tf.int64), tf.reshape(rt,[-1])
tf.split(tf.ragged.constant([[1,2],[3],[],[4]]),2), tf.split(tf.ragged.constant([[1,2],[3],[],[4]]),[1,3])
tf.nn.softmax(tf.ragged.constant([[0.,0.],[1.],[0.,0.,0.,0.]]))
tf.nn.embedding_lookup(tf.constant([[1.,2.],[3.,4.],[5.,6.],[7.,8.]]),i)
tf.matmul(tf.ragged.constant([[[1.,2.],[3.,4.]],[[5.,6.]]],ragged_rank=1),tf.constant([[[1.,0.],[0.,1.]],[[2.,0.],[0.,2.]]]))
tf.matmul(u,tf.constant([[1.,0.],[0.,1.]]))
tf.ragged.map_flat_values(tf.ones_like,a), tf.ragged.map_flat_values(tf.multiply,a,2.), tf.ragged.map_flat_values(tf.add,a,b), tf.ragged.map_flat_values(tf.add,a,b*1.)
tf.ragged.map_flat_values(tf.reduce_sum,a)
tf.ragged.map_flat_values(tf.add,a,i)
tf.map_fn(tf.reduce_sum,a,fn_output_signature=tf.float32), tf.map_fn(lambda x:x*2,a), tf.map_fn(tf.size,rt,fn_output_signature=tf.int32), tf.map_fn(lambda x: x[::-1], a, fn_output_signature=tf.RaggedTensorSpec([None],tf.float32)), tf.map_fn(lambda n: tf.range(n), tf.constant([3,0,2]), fn_output_signature=tf.RaggedTensorSpec([None],tf.int32)), tf.map_fn(lambda x: tf.reduce_sum(x,-1), rt, fn_output_signature=tf.RaggedTensorSpec([None],tf.int32))
tf.map_fn(lambda x: (tf.reduce_sum(x), x), a, fn_output_signature=(tf.float32, tf.RaggedTensorSpec([None],tf.float32)))
tf.map_fn(lambda p: p[0]+tf.reduce_sum(p[1]), (tf.constant([1.,2.,3.,4.]),a), fn_output_signature=tf.float32)
tf.ragged.boolean_mask([[1,2,3],[4,5,6]],[[True,False,True],[False,False,True]]), tf.ragged.boolean_mask(a,a>2.), tf.ragged.boolean_mask(a,[True,False,False,True]), tf.ragged.boolean_mask(rt,rt>2), tf.ragged.boolean_mask(rt,tf.ragged.constant([[True,False],[],[True,True]])), tf.ragged.boolean_mask([1,2],[True,False])
tf.ragged.boolean_mask(a,[1,2])
tf.ragged.stack_dynamic_partitions(["a","b","c"],[1,0,1],3), tf.ragged.stack_dynamic_partitions(a,[1,0,1,1],2)
tf.ragged.stack_dynamic_partitions(["a","b","c"],[1,0,5],3)
tf.dynamic_partition(a,[1,0,1,1],2)
tf.debugging.assert_equal(a,a)
tf.debugging.assert_equal(a,b)
tf.identity(a), tf.stop_gradient(a)
tf.linalg.inv(a)
tf.convert_to_tensor(a)
tf.math.bincount(i), tf.math.bincount(i,axis=-1)
tf.cumsum(a,axis=1)
tf.bitcast(i,tf.float32)
tf.unstack(a)
tf.transpose(a)
tf.sort(a)
tf.broadcast_to(a,[4,3])
tf.image.resize(a,[2,2])
tf.math.unsorted_segment_sum(a,[1,0,1,0],2), tf.math.unsorted_segment_max(a,[1,0,1,0],2), tf.math.unsorted_segment_mean(a,[1,0,1,0],2)
tf.math.segment_sum(a,[0,0,1,1])
tf.math.unsorted_segment_sum(a,tf.ragged.constant([[0,0],[1],[],[1,1,2]]),3)
tf.cumsum(a,axis=1,exclusive=True), tf.cumsum(a,axis=1,reverse=True), tf.cumsum(a,axis=-1), tf.cumsum(rt,axis=2)
tf.cumsum(a)
tf.stack([rt,rt],axis=1), tf.stack([rt,rt],axis=1).shape, tf.stack([u,u]).shape, tf.concat([u,u],0).shape, tf.concat([u,u],1).shape, tf.concat([u,u],2).shape
a+tf.constant([[1.,2.,3.]])
u+tf.constant([[[1.,2.]]])
tf.ragged.constant([[1,2],[3,4]])+tf.constant([[10,20],[30,40]])
tf.constant([[10,20],[30,40]])*tf.ragged.constant([[1,2],[3,4]])
tf.expand_dims(a,1)+tf.expand_dims(a,1)
tf.expand_dims(a,0)*a
tf.ragged.constant([["a","b"],["c"]])==tf.ragged.constant([["a","x"],["c"]])
np.float32(2.)*a
tf.Variable(2.)*a
a*tf.Variable(2.)
tf.constant(1.)<a
tf.math.bincount(i,minlength=6), tf.math.bincount(i,axis=-1,minlength=5), tf.math.bincount(i,axis=-1,maxlength=3), tf.math.bincount(i,axis=-1,binary_output=True), tf.math.bincount(i,weights=tf.ragged.constant([[1.,2.],[],[3.]]),axis=-1)
tf.nn.dropout(a,0.)
tf.nn.sigmoid_cross_entropy_with_logits(labels=a*0.,logits=a*0.)
""",
)
