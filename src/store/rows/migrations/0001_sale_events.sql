-- The sale events of all nodes, in the order in which their nodes have stored them here.
create table sale_events (
  place integer primary key autoincrement,
  sequence integer not null unique,
  site_id integer not null,
  visit_sequence integer not null,
  import_id integer not null,
  import_at integer not null,
  at integer not null,
  amount_minor integer not null,
  currency text not null,
  order_id text,
  name text not null,
  trust text not null,
  is_repeated integer not null
) strict;
create index sale_events_site on sale_events (site_id, place);
create index sale_events_visit on sale_events (site_id, visit_sequence);
