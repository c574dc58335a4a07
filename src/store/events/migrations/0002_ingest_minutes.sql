-- What became of events, by minute of the server's clock. Site 0 is the instance.
create table ingest_minutes (
  minute integer not null,
  site_id integer not null,
  outcome text not null,
  count integer not null,
  primary key (minute, site_id, outcome)
) strict, without rowid;
