-- The event ids of the last two days as keyed hashes, so that an event that is sent to two nodes counts once. Each row is written by the node that
-- has stored the event, after the visit.
create table if not exists event_ids (
  id UInt64,
  node UInt8,
  arrived Int64 codec(Delta, ZSTD(1))
) engine = ReplacingMergeTree
partition by toYYYYMMDD(fromUnixTimestamp64Milli(arrived, 'UTC'))
order by (id, node)
ttl toDateTime(fromUnixTimestamp64Milli(arrived, 'UTC')) + interval 2 day
settings fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1
