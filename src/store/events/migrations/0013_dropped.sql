-- The time span of the recorded visits and records that only the second engine still has, by site and kind. Empty unless one is configured.
create table dropped (
  site_id integer not null,
  kind text not null,
  first_at integer not null,
  last_at integer not null,
  primary key (site_id, kind)
) strict, without rowid;
