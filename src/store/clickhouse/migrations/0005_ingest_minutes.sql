-- What became of events, by minute of the node's clock: the count of each node, whose rows grow in version. Site 0 is the instance.
create table if not exists ingest_minutes (
  minute UInt32,
  site_id UInt32,
  outcome LowCardinality(String),
  node UInt8,
  version UInt64,
  count UInt64
) engine = ReplacingMergeTree(version)
partition by intDiv(minute, 1440)
order by (minute, site_id, outcome, node)
settings fsync_after_insert = 1, fsync_part_directory = 1
