-- The stored user ids of people, by the number that all nodes know them by. `node` is the node that has identified the person.
create table if not exists user_ids (
  site_id UInt32,
  visitor UInt64,
  node UInt8,
  user_id String
) engine = ReplacingMergeTree
order by (site_id, visitor, node)
settings fsync_after_insert = 1, fsync_part_directory = 1
