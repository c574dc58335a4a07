-- What ties the answer of a provider to the request for access. The state itself is never stored.
create table integrations_oauth_states (
  id integer primary key autoincrement,
  state_hash text not null unique,
  session_id integer not null,
  user_id integer not null,
  organization_id integer not null,
  site_id integer not null,
  kind text not null,
  -- Verifier and nonce. null once they were used.
  pkce_secret_id integer,
  return_to text not null,
  expires_at integer not null,
  used_at integer
) strict;
create index integrations_oauth_states_organization_id on integrations_oauth_states (organization_id);
create index integrations_oauth_states_site_id on integrations_oauth_states (site_id);
create index integrations_oauth_states_expires_at on integrations_oauth_states (expires_at);

create index integrations_integrations_next_run_at on integrations_integrations (next_run_at) where next_run_at is not null;
