-- Hosts that sites of several organizations claim. A site lists a host since its own creation unless `hosts_listed_at_json` has a
-- later moment, in epoch milliseconds by host.
alter table sites add column hosts_listed_at_json text not null default '{}';

-- TXT records by which organizations prove hosts. At most one organization has proved a host.
create table host_proofs (
  id integer primary key autoincrement,
  organization_id integer not null references organizations (id),
  host text not null,
  token text not null,
  verified_at integer,
  created_at integer not null,
  unique (organization_id, host)
) strict;
create unique index host_proofs_verified on host_proofs (host) where verified_at is not null;

-- Disputes that an instance admin has decided.
create table host_decisions (
  id integer primary key autoincrement,
  host text not null unique,
  organization_id integer not null references organizations (id),
  decided_by integer references users (id),
  decided_at integer not null
) strict;
