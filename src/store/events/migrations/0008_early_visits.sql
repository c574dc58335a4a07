-- What a seal leaves in the log, in parts. Only those of the log's epoch count; others are left over from a seal that did not end.
create table carried (
  epoch integer not null,
  part integer not null,
  record blob not null,
  -- Ids of the visits that the part begins.
  visits blob not null,
  unique (epoch, part)
) strict;

-- Open visits that were moved into segments because the tail was full. The next event of such a visit takes it back into the log.
create table early_visits (
  -- Sequence of its first event.
  sequence integer primary key,
  batch integer not null,
  lane integer not null,
  rotating integer not null,
  visitor integer not null,
  kind integer not null,
  started_at integer not null,
  active_at integer not null,
  arrived_at integer not null,
  size integer not null,
  -- The visit with its events, in the form of the log.
  record blob not null
) strict;
create index early_visits_rotating on early_visits (lane, rotating);
create index early_visits_arrived on early_visits (arrived_at);

-- The seals that moved open visits. Rows of a batch count once it has a time.
create table early_batches (
  batch integer primary key autoincrement,
  sealed_at integer
) strict;

-- Visits that were taken back. Segments up to `segment_limit` still contain them.
create table taken_visits (
  id integer primary key autoincrement,
  lane integer not null,
  sequence integer not null,
  segment_limit integer not null
) strict;

-- Until when an event can take a visit out of the segment; null once all its visits are closed.
alter table segments add column open_until integer;
