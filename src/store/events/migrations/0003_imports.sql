-- The run of an import that wrote the segment; 0 for native ones. A run is part of answers once it is completed.
alter table segments add column run integer not null default 0;
alter table segments drop column hidden;
create index segments_import on segments (import_id, run) where import_id > 0;

-- How far a run of an import has come, written in the transaction of each batch.
create table import_cursors (
  import_id integer not null,
  run integer not null,
  site_id integer not null,
  position text not null,
  visits integer not null,
  rows integer not null,
  batches integer not null,
  primary key (import_id, run)
) strict, without rowid;

-- Which visitor a visitor of the source became, by its name's hash. Kept until the import ends, or its stream's salt is destroyed.
create table import_visitors (
  import_id integer not null,
  key blob not null,
  ordinal integer not null,
  primary key (import_id, key)
) strict, without rowid;
