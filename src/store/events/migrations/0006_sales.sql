-- Events with revenue, written in the transaction of the event. A row of an import has a negative sequence until its run is visible,
-- and then gets the next one, so that reading by sequence misses nothing.
create table sale_events (
  sequence integer primary key,
  site_id integer not null,
  -- First event of the visit. Follows the visit until it is closed.
  visit_sequence integer not null,
  import_id integer not null,
  -- Run of the import; 0 for native rows.
  run integer not null,
  at integer not null,
  amount_minor integer not null,
  currency text not null,
  order_id text,
  name text not null,
  trust text not null check (trust in ('client', 'server')),
  -- Whether the event lost its revenue because its order was seen before.
  repeated integer not null
) strict;
create index sale_events_site on sale_events (site_id);
create index sale_events_visit on sale_events (site_id, visit_sequence);
create index sale_events_import on sale_events (import_id, run) where import_id > 0;
create index sale_events_pending on sale_events (import_id, run) where sequence < 0;
-- The sales of an existing store are read from its segments when it is opened next.
insert into state (key, value) select 'sales_fill', 0 where exists (select 1 from segments) or exists (select 1 from log);
