-- Removals of events by one node, which every other node repeats in its own store.
create table removals (
  id integer primary key autoincrement,
  site_id integer not null,
  -- Number of the node that has begun it.
  node integer not null,
  removal_json text not null,
  created_at integer not null
) strict;

-- The last removal that the node has repeated.
alter table nodes add column removed_to integer not null default 0;
