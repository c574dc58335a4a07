-- What segments contribute to reports, so that it outlasts the process. It can be computed again at any time.

-- The months of sites. A month consists of segments, and is deleted when one of them is replaced.
create table summed_months (
  id integer primary key,
  site_id integer not null,
  -- Differs for other segments.
  name text not null unique,
  -- A JSON array of ids.
  segments text not null,
  -- The program that computed the sums. Another version may compute others.
  version text not null
) strict;
create index summed_months_site_id on summed_months (site_id);

create table month_sums (
  id integer primary key,
  month_id integer not null references summed_months (id) on delete cascade,
  -- The kind of sums, such as those of a query.
  name text not null,
  -- The visitors of the month who can also be elsewhere.
  crossing text not null,
  data blob not null,
  unique (month_id, name)
) strict;
