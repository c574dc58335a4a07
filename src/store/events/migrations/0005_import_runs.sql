-- The run that first had the visitor. A run that is dropped takes its visitors along.
alter table import_visitors add column run integer not null default 1;
create index import_visitors_run on import_visitors (import_id, run);
