-- The Footfall processes that share the catalog. A number is part of the sequences that its node gives to events, so it is never used again.
create table nodes (
  number integer primary key check (number between 1 and 255),
  -- Id of the data folder, which keeps its number over restarts.
  folder text not null unique,
  -- Id of this start: of two nodes with copies of one folder, the later one has the number.
  holder text not null,
  described text not null,
  version text not null,
  -- By the clock of the catalog's server. The node is live until then.
  expires_at integer not null,
  -- Since when the node has had events that it has not shipped, in epoch milliseconds.
  unshipped_since integer
) strict;
