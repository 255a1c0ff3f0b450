"""`tf.feature_column`, the rest of `tf.data.experimental`, and specs of what is no tensor."""

from case_helpers import expressions

WORDS = __file__  # any file with lines will do

# What is shown of something that is no tensor.
SHOW = (
    "lambda x: [SHOW(y) for y in x] if isinstance(x, (list, tuple)) and not hasattr(x, '_fields') else "
    "x if x is None or isinstance(x, (bool, int, float, str, bytes, np.generic, np.ndarray, tf.Tensor)) else "
    "{k: SHOW(v) for k, v in x.items()} if isinstance(x, dict) else repr(x)"
)

COLUMNS = {
    "SHOW": SHOW,
    "F": "tf.feature_column",
    "words": f"{WORDS!r}",
    "n": "F.numeric_column('a')",
    "b": "F.bucketized_column(n, [1, 2, 3])",
    "h": "F.categorical_column_with_hash_bucket('h', 10)",
    "i": "F.categorical_column_with_identity('i', 5, default_value=1)",
    "v": "F.categorical_column_with_vocabulary_list('v', ['x', 'y'], num_oov_buckets=2)",
    "f": "F.categorical_column_with_vocabulary_file('f', words)",
    "c": "F.crossed_column(['a', 'hh'], 100)",
    "c2": "F.crossed_column([b, v], 100)",
    "ind": "F.indicator_column(v)",
    "e": "F.embedding_column(v, 3)",
    "w": "F.weighted_categorical_column(v, 'w')",
    "sn": "F.sequence_numeric_column('sn')",
}

DATA = {
    "SHOW": SHOW,
    "E": "tf.data.experimental",
    "D": "tf.data.Dataset",
    "L": "lambda d: list(d.as_numpy_iterator())",
    "d": "D.range(5)",
    "r": "E.dense_to_sparse_batch(2, [4])",
    "dd": "D.range(1, 4).map(lambda n: tf.fill([n], n))",
    "red": "E.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s * 10)",
    "O": "tf.experimental.Optional",
    "S": "tf.TensorArraySpec",
    "I": "tf.data.IteratorSpec",
}

CASES = {
    **expressions(
        COLUMNS,
        """
SHOW(n)
SHOW(F.numeric_column('a',shape=[2],default_value=1.,dtype=tf.float64))
SHOW(n.parse_example_spec)
SHOW(n.name)
SHOW(b)
SHOW(b.name)
SHOW(b.num_buckets)
SHOW(h)
SHOW(h.parse_example_spec)
SHOW(i)
SHOW(i.parse_example_spec)
SHOW(v)
SHOW(v.num_buckets)
SHOW(c)
SHOW(c.name)
SHOW(c.parse_example_spec)
SHOW(c2.name)
SHOW(c2.parse_example_spec)
SHOW(ind)
SHOW(ind.name)
SHOW(ind.parse_example_spec)
SHOW(e.name)
SHOW((e.dimension,e.combiner,e.max_norm,e.trainable,e.use_safe_embedding_lookup))
SHOW(w)
SHOW(w.parse_example_spec)
SHOW(w.name)
SHOW(sn)
SHOW(sn.parse_example_spec)
SHOW(F.make_parse_example_spec([n,b,h,i,v,f,c2,ind,e,w,sn]))
SHOW(F.make_parse_example_spec(['a']))
SHOW(F.make_parse_example_spec(n))
SHOW(F.make_parse_example_spec([n,F.numeric_column('a',shape=[3])]))
SHOW(F.numeric_column('a',shape=[0]))
SHOW(F.numeric_column(3))
SHOW(F.numeric_column('a',dtype=tf.string))
SHOW(F.numeric_column('a',default_value=[1.,2.]))
SHOW(F.numeric_column('a',normalizer_fn=3))
SHOW(F.bucketized_column(h,[1]))
SHOW(F.bucketized_column(n,[3,1]))
SHOW(F.bucketized_column(n,1))
SHOW(F.bucketized_column(F.numeric_column('a',shape=[2,2]),[1]))
SHOW(F.categorical_column_with_hash_bucket('a',None))
SHOW(F.categorical_column_with_hash_bucket('a',0))
SHOW(F.categorical_column_with_hash_bucket('a',3,tf.float32))
SHOW(F.categorical_column_with_identity('a',0))
SHOW(F.categorical_column_with_identity('a',3,default_value=5))
SHOW(F.categorical_column_with_vocabulary_list('a',[]))
SHOW(F.categorical_column_with_vocabulary_list('a',['x','x']))
SHOW(F.categorical_column_with_vocabulary_list('a',['x'],default_value=1,num_oov_buckets=2))
SHOW(F.categorical_column_with_vocabulary_list('a',['x'],num_oov_buckets=-1))
SHOW(F.categorical_column_with_vocabulary_list('a',['x'],dtype=tf.int32))
SHOW(F.categorical_column_with_vocabulary_list('a',[1.5]))
SHOW(F.categorical_column_with_vocabulary_file('a',None))
SHOW(F.categorical_column_with_vocabulary_file('a',words,vocabulary_size=0))
SHOW(F.categorical_column_with_vocabulary_file('a','/nonexist'))
SHOW(F.crossed_column([],3))
SHOW(F.crossed_column(['a'],3))
SHOW(F.crossed_column(['a','b'],0))
SHOW(F.crossed_column([n,'b'],10))
SHOW(F.crossed_column([h,'b'],10))
SHOW(F.embedding_column(v,0))
SHOW(F.embedding_column(v,None))
SHOW(F.embedding_column(v,3,initializer=4))
SHOW(F.embedding_column(v,3,ckpt_to_load_from='x'))
SHOW(F.weighted_categorical_column(v,None))
SHOW(F.weighted_categorical_column(v,'w',tf.string))
SHOW(F.sequence_numeric_column('a',shape=[0]))
SHOW(F.indicator_column(n))
SHOW(n==F.numeric_column('a'))
SHOW(hash(n)==hash(F.numeric_column('a')))
SHOW(n._replace(key='z'))
SHOW(c2.keys)
SHOW(n.parents)
SHOW(e.parents)
SHOW(n.variable_shape)
SHOW(ind.variable_shape)
SHOW(e.variable_shape)
SHOW(b.variable_shape)
SHOW(c.num_buckets)
SHOW(F.sequence_categorical_column_with_hash_bucket('q', 5))
SHOW(F.sequence_categorical_column_with_identity('q', 5))
SHOW(F.sequence_categorical_column_with_vocabulary_list('q', ['x', 'y']))
SHOW(F.sequence_categorical_column_with_vocabulary_file('q', words, 2).num_buckets)
""",
    ),
    **expressions(
        DATA,
        """
SHOW(L(E.from_list([1,2,3])))
SHOW(L(E.from_list([(1,'a'),(2,'b')])))
SHOW(E.from_list([]))
SHOW(E.from_list([{'a':1},{'a':2}]).element_spec)
SHOW(E.from_list(3))
SHOW(E.from_list([1,2]).cardinality())
SHOW(L(E.from_list([[1,2],[3,4]])))
SHOW(E.at(d,2))
SHOW(E.at(d,7))
SHOW(E.at(d,-1))
SHOW(E.at(d.filter(lambda x:x>2),0))
SHOW(E.at(D.from_tensor_slices(([1,2],['a','b'])),1))
SHOW(E.at(d.repeat(),12))
SHOW(E.at(d.skip(1).take(2),1))
SHOW(E.at(D.from_generator(lambda:iter([1]),output_signature=tf.TensorSpec([],tf.int32)),0))
SHOW([tf.sparse.to_dense(x).numpy().tolist() for x in dd.apply(r)])
SHOW(dd.apply(r).element_spec)
SHOW(list(D.range(1,7).map(lambda n: tf.fill([n],n)).apply(r)))
SHOW(list(D.range(3).apply(r)))
SHOW(L(D.range(6).apply(E.group_by_reducer(lambda x: x%2, red))))
SHOW(L(D.range(0).apply(E.group_by_reducer(lambda x: x%2, red))))
SHOW(D.range(6).apply(E.group_by_reducer(lambda x: x%2, red)).cardinality())
SHOW(L(D.range(5).apply(E.map_and_batch(lambda x:x+1,2))))
SHOW(L(D.range(5).apply(E.map_and_batch(lambda x:x+1,2,drop_remainder=True))))
SHOW(E.map_and_batch(lambda x:x,2,num_parallel_batches=1,num_parallel_calls=2))
SHOW(L(D.range(5).apply(E.map_and_batch(lambda x:x+1,2,num_parallel_batches=0))))
SHOW(L(D.range(3).apply(E.parallel_interleave(lambda x:D.from_tensors(x).repeat(2),cycle_length=2))))
SHOW(L(D.range(3).apply(E.parallel_interleave(lambda x:D.from_tensors(x).repeat(3),cycle_length=2,block_length=2))))
SHOW(L(D.from_tensor_slices({'a':[1,2]}).apply(E.pad_to_cardinality(4))))
SHOW(L(D.range(2).apply(E.pad_to_cardinality(4))))
SHOW(L(D.from_tensor_slices({'a':[1,2]}).apply(E.pad_to_cardinality(1))))
SHOW(L(D.from_tensor_slices({'valid':[1,2]}).apply(E.pad_to_cardinality(4))))
SHOW(L(D.from_tensor_slices({'a':[1,2]}).repeat().apply(E.pad_to_cardinality(4))))
SHOW(D.from_tensor_slices({'a':[1,2]}).apply(E.pad_to_cardinality(4,mask_key='m')).cardinality())
SHOW(D.from_tensor_slices({'a':[1,2]}).apply(E.pad_to_cardinality(4)).element_spec)
SHOW(L(D.from_tensor_slices({'a':[1,2]}).filter(lambda x:True).apply(E.pad_to_cardinality(4))))
SHOW(E.SHARD_HINT)
SHOW([x.name for x in E.AutotuneAlgorithm])
SHOW([(x.name,x.value) for x in E.ExternalStatePolicy])
SHOW([(x.name,x.value) for x in E.AutotuneAlgorithm])
SHOW(L(E.RandomDataset(seed=3).take(3)))
SHOW(E.RandomDataset(seed=3).element_spec)
SHOW(isinstance(E.RandomDataset(1),D))
SHOW(E.make_batched_features_dataset('/nonexistent*',2,F))
SHOW(D.range(3).apply(E.parse_example_dataset(F)))
SHOW(E.table_from_dataset(D.from_tensor_slices((['a','b'],[10,20]))).lookup(tf.constant(['b'])))
SHOW(E.index_table_from_dataset(D.from_tensor_slices(['a','b','c'])).lookup(tf.constant(['c','z'])))
SHOW(E.index_table_from_dataset(D.from_tensor_slices(['a','b','c']),num_oov_buckets=3).lookup(tf.constant(['c','z'])))
SHOW(E.index_table_from_dataset(D.range(3)).lookup(tf.constant(['c'])))
SHOW(E.index_table_from_dataset(D.range(5,8),key_dtype=tf.int64).lookup(tf.constant([7],tf.int64)))
SHOW(E.index_table_from_dataset(D.from_tensor_slices(['a','b','c']),vocab_size=2).lookup(tf.constant(['c','b'])))
SHOW(E.index_table_from_dataset(D.from_tensor_slices(['a','b','c']),num_oov_buckets=-1))
SHOW(E.DatasetInitializer(D.range(3)))
SHOW(O.from_value(3).get_value())
SHOW(O.empty(tf.TensorSpec([])).has_value())
SHOW(O.empty(tf.TensorSpec([])).get_value())
SHOW(O.from_value((1,'a')).element_spec)
SHOW(tf.type_spec_from_value(O.from_value(1)))
SHOW(tf.OptionalSpec(tf.TensorSpec([])))
SHOW(tf.OptionalSpec(tf.TensorSpec([]))==tf.OptionalSpec(tf.TensorSpec([])))
SHOW(tf.OptionalSpec.from_value(O.from_value(1)))
SHOW(tf.function(lambda o:o.get_value()+1)(O.from_value(2)))
SHOW(tf.function(lambda: O.from_value(2))().get_value())
SHOW(tf.OptionalSpec(tf.TensorSpec([],tf.int32)).is_compatible_with(O.from_value(1)))
SHOW(isinstance(iter(tf.data.Dataset.range(2)).get_next_as_optional(),O))
SHOW(tf.function(lambda o:o.get_value())(O.empty(tf.TensorSpec([],tf.int32))))
SHOW(O.from_value())
SHOW(tf.NoneTensorSpec())
SHOW(tf.NoneTensorSpec()==tf.NoneTensorSpec())
SHOW(tf.NoneTensorSpec().is_compatible_with(None))
SHOW(tf.NoneTensorSpec().is_compatible_with(tf.NoneTensorSpec()))
SHOW(tf.NoneTensorSpec().is_compatible_with(3))
SHOW(tf.NoneTensorSpec().most_specific_compatible_type(tf.NoneTensorSpec()))
SHOW(tf.NoneTensorSpec().most_specific_compatible_type(tf.TensorSpec([])))
SHOW(isinstance(tf.NoneTensorSpec(),tf.TypeSpec))
SHOW(S())
SHOW(S([2],tf.int32,True))
SHOW(S([2])==S([2]))
SHOW(S([2]).is_compatible_with(S([2])))
SHOW(S([2]).is_compatible_with(S([3])))
SHOW(S.from_value(tf.TensorArray(tf.float32,3,element_shape=[2])))
SHOW(S([2]).most_specific_compatible_type(S([3])))
SHOW(S([2]).is_compatible_with(tf.TensorArray(tf.float32,3,element_shape=[2])))
SHOW(I(tf.TensorSpec([],tf.int64)))
SHOW(I(tf.TensorSpec([],tf.int64)).element_spec)
""",
    ),
}
