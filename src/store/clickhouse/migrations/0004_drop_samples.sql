-- The latest dropped events of each site and node, at most a hundred in a row. The arrays have the same length.
create table if not exists drop_samples (
  site_id UInt32,
  node UInt8,
  version UInt64,
  `s.at` Array(Int64),
  `s.reason` Array(LowCardinality(String)),
  `s.hostname` Array(String),
  `s.page` Array(String),
  `s.browser` Array(LowCardinality(String)),
  `s.country` Array(LowCardinality(String))
) engine = ReplacingMergeTree(version)
order by (site_id, node)
settings fsync_after_insert = 1, fsync_part_directory = 1
