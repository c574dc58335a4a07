-- The sites with new transactions that are not packed yet, and the first of their ids.
create table revenue_unpacked (
  site_id integer primary key,
  from_id integer not null
) strict;
