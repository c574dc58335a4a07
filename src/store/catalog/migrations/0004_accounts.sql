-- Who may enter and what they may do. Tokens are kept as SHA-256, what must be read again is sealed.

alter table users add column email_verified_at integer;
alter table users add column locale text;
alter table users add column time_format text;
alter table users add column theme text;
alter table users add column shortcuts integer not null default 1 check (shortcuts in (0, 1));
alter table users add column start_page text;
alter table users add column totp_sealed blob;
alter table users add column totp_last_step integer;
alter table users add column last_login_at integer;
alter table users add column last_seen_at integer;
alter table users add column disabled_at integer;
alter table users add column deleted_at integer;
alter table users add column version integer not null default 1;

alter table organizations add column policy_json text not null default '{}';
alter table organizations add column version integer not null default 1;
alter table organizations add column deleted_at integer;

alter table memberships add column grants_json text not null default '[]';
alter table memberships add column denies_json text not null default '[]';
alter table memberships add column invited_by integer references users (id);
alter table memberships add column version integer not null default 1;

alter table api_keys add column owner_user_id integer references users (id);
alter table api_keys add column created_by integer references users (id);
alter table api_keys add column last_used_ip_prefix text;
alter table api_keys add column last_used_agent text;
alter table api_keys add column revoked_by integer references users (id);

-- A row of a site raises or limits a member; to a guest it gives all there is.
create table site_members (
  site_id integer not null references sites (id) on delete cascade,
  user_id integer not null references users (id),
  role text not null check (role in ('admin', 'editor', 'viewer')),
  created_by integer references users (id),
  created_at integer not null,
  primary key (site_id, user_id)
) strict, without rowid;
create index site_members_user_id on site_members (user_id);

-- `organization_id` is set where the provider of an organization signed somebody in: the session reaches that one alone.
create table sessions (
  id integer primary key autoincrement,
  token_hash blob not null unique,
  user_id integer not null references users (id),
  method text not null check (method in ('password', 'passkey', 'oidc', 'setup', 'invitation', 'impersonation')),
  mfa integer not null check (mfa in (0, 1)),
  created_at integer not null,
  last_seen_at integer not null,
  idle_expires_at integer not null,
  expires_at integer not null,
  reauth_at integer not null,
  device text not null,
  user_agent text not null,
  ip_prefix text not null,
  place text not null default '',
  impersonator_id integer references users (id),
  impersonation_mode text check (impersonation_mode in ('read_only', 'full')),
  impersonation_reason text,
  organization_id integer references organizations (id),
  revoked_at integer
) strict;
create index sessions_user_id on sessions (user_id);
create index sessions_expires_at on sessions (expires_at);

create table login_tickets (
  hash blob primary key,
  user_id integer references users (id),
  kind text not null check (kind in ('mfa', 'passkey', 'passkey_new', 'totp_new', 'oidc', 'oidc_link')),
  payload_json text not null,
  attempts integer not null default 0,
  expires_at integer not null,
  used_at integer
) strict, without rowid;
create index login_tickets_expires_at on login_tickets (expires_at);

create table one_time_tokens (
  hash blob primary key,
  purpose text not null check (purpose in ('reset', 'verify_email', 'change_email', 'undo_email')),
  user_id integer not null references users (id),
  payload_json text not null,
  expires_at integer not null,
  used_at integer
) strict, without rowid;
create index one_time_tokens_user_id on one_time_tokens (user_id, purpose);
create index one_time_tokens_expires_at on one_time_tokens (expires_at);

create table passkeys (
  id integer primary key autoincrement,
  user_id integer not null references users (id),
  credential_id text not null unique,
  public_key blob not null,
  algorithm integer not null,
  sign_count integer not null,
  transports_json text not null,
  backed_up integer not null check (backed_up in (0, 1)),
  name text not null,
  created_at integer not null,
  last_used_at integer,
  version integer not null default 1
) strict;
create index passkeys_user_id on passkeys (user_id);

create table recovery_codes (
  id integer primary key autoincrement,
  user_id integer not null references users (id),
  code_hash blob not null,
  used_at integer,
  unique (user_id, code_hash)
) strict;

create table oidc_providers (
  id text primary key,
  organization_id integer references organizations (id),
  name text not null,
  issuer text not null,
  client_id text not null,
  secret_sealed blob,
  scopes text not null,
  allowed_domains_json text not null default '[]',
  jit integer not null default 0 check (jit in (0, 1)),
  role_map_json text not null default '{}',
  sso_only integer not null default 0 check (sso_only in (0, 1)),
  enabled integer not null default 1 check (enabled in (0, 1)),
  created_at integer not null,
  version integer not null default 1
) strict, without rowid;

create table oidc_identities (
  id integer primary key autoincrement,
  user_id integer not null references users (id),
  provider text not null,
  subject text not null,
  email_at_link text not null,
  created_at integer not null,
  last_login_at integer,
  unique (provider, subject)
) strict;
create index oidc_identities_user_id on oidc_identities (user_id);

create table organization_domains (
  id integer primary key autoincrement,
  organization_id integer not null references organizations (id),
  domain text not null,
  token text not null,
  verified_at integer,
  created_at integer not null,
  unique (organization_id, domain)
) strict;
create unique index organization_domains_verified on organization_domains (domain) where verified_at is not null;

create table invitations (
  id integer primary key autoincrement,
  organization_id integer not null references organizations (id),
  email text not null,
  email_key text not null,
  role text not null check (role in ('owner', 'admin', 'editor', 'viewer', 'guest')),
  site_ids_json text not null default '[]',
  token_hash blob not null unique,
  invited_by integer references users (id),
  created_at integer not null,
  expires_at integer not null,
  sent_at integer,
  accepted_at integer,
  accepted_by integer references users (id),
  revoked_at integer
) strict;
create index invitations_organization_id on invitations (organization_id, email_key);

-- Append-only. `hash` is that of `prev_hash` and the row, so that a change of a row shows.
create table audit_log (
  id integer primary key autoincrement,
  at integer not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'system', 'cli')),
  actor_id integer,
  actor_email text not null,
  impersonator_id integer,
  impersonator_email text,
  action text not null,
  target_type text not null,
  target_id text not null,
  target_label text not null,
  organization_id integer,
  site_id integer,
  outcome text not null check (outcome in ('ok', 'failed')),
  ip_prefix text not null,
  user_agent text not null,
  request_id text not null,
  changes_json text not null,
  prev_hash blob not null,
  hash blob not null
) strict;
create index audit_log_organization_id on audit_log (organization_id, id);
create index audit_log_at on audit_log (at);

-- Settings that are changed while the instance runs; one that is absent has its default.
create table settings (
  key text primary key,
  value_json text not null,
  updated_by integer references users (id),
  updated_at integer not null
) strict, without rowid;
