-- Connections to accounts at outside services. The tokens are stored with the other secrets.
create table connections (
  id integer primary key autoincrement,
  organization_id integer not null references organizations (id),
  provider text not null,
  method text not null check (method in ('oauth', 'service_account', 'key')),
  -- Id of the account at the provider, which stays the same when its email address changes.
  account_id text not null,
  account_label text not null,
  scopes_json text not null,
  secret_id integer references secrets (id),
  status text not null default 'ok' check (status in ('ok', 'needs_reauth', 'error')),
  error_code text,
  error_at integer,
  refreshed_at integer,
  created_by integer references users (id),
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create unique index connections_account on connections (organization_id, provider, method, account_id);

-- Key under which the outcome of an email is reported, as `<owner>:<key>`. It contains no address.
alter table mails add column outcome_key text;
