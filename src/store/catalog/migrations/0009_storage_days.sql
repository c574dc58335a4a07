-- What stores and sites took on a day, for growth and forecast. Site 0 is a whole file.
create table storage_days (
  day text not null,
  site_id integer not null,
  store text not null check (store in ('catalog', 'events')),
  kind text not null,
  rows integer not null,
  bytes integer not null,
  primary key (day, site_id, store, kind)
) strict, without rowid;
