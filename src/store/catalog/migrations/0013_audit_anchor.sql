-- Where the chain of the audit log begins and how many rows follow, so that rows removed from either end are noticed. One row.
create table audit_anchor (
  id integer primary key check (id = 1),
  first_id integer not null,
  -- The hash before the first row.
  prev_hash blob not null,
  rows integer not null
) strict;
-- No row was ever removed before this migration, and ids have no gaps.
insert into audit_anchor (id, first_id, prev_hash, rows)
values (1, 1, zeroblob(32), coalesce((select seq from sqlite_sequence where name = 'audit_log'), 0));
