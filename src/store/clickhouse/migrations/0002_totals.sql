-- Imported totals: a row for up to 65,536 totals of one kind, which is a segment in the store of the node that imported them. `content` is a
-- JSON text of `ship/totals.ts`. Of the rows with one key the one with the highest version counts; `gone` marks a segment that was removed.
create table if not exists totals (
  site_id UInt32,
  node UInt8,
  segment UInt32,
  version UInt8,
  gone UInt8,
  import_id UInt32,
  run UInt32,
  kind LowCardinality(String),
  rows UInt32,
  first_day UInt32,
  last_day UInt32,
  content String codec(ZSTD(3))
) engine = ReplacingMergeTree(version, gone)
order by (site_id, node, segment)
settings fsync_after_insert = 1, fsync_part_directory = 1
