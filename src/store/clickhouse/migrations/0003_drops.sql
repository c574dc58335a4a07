-- Dropped events by site, local day, reason and entry: the count of each node, whose rows grow in version. An empty entry is the total of a
-- reason.
create table if not exists drops (
  site_id UInt32,
  day Date,
  reason LowCardinality(String),
  entry String,
  node UInt8,
  version UInt64,
  count UInt64
) engine = ReplacingMergeTree(version)
partition by toYYYYMM(day)
order by (site_id, day, reason, entry, node)
settings fsync_after_insert = 1, fsync_part_directory = 1
