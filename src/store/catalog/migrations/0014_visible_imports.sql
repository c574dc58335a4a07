-- Imports that answers include, with their last completed run and their effective days in the zone of the import.
create table visible_imports (
  site_id integer not null references sites (id) on delete cascade,
  import_id integer not null,
  run integer not null,
  timezone text not null,
  days_json text not null,
  primary key (site_id, import_id)
) strict;
