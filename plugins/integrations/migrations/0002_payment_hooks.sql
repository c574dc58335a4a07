-- Addresses at which payment providers report payments. Signing secrets are stored with the other secrets, tokens only as hashes.
create table integrations_hooks (
  id integer primary key autoincrement,
  site_id integer not null,
  kind text not null check (kind in ('stripe', 'paddle', 'lemonsqueezy', 'woocommerce', 'shopify', 'payments-generic')),
  token_hash text not null unique,
  -- Ids of at most two secrets, newest first, each with the end of its validity.
  secrets_json text not null,
  enabled integer not null default 1,
  last_event_at integer,
  created_by integer,
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create index integrations_hooks_site_id on integrations_hooks (site_id);

create table integrations_hook_events (
  id integer primary key autoincrement,
  hook_id integer not null,
  -- Id at the provider, or the SHA-256 of the body.
  external_id text not null,
  received_at integer not null,
  -- null after 30 days.
  body_secret_id integer,
  result text not null check (result in ('published', 'ignored', 'failed')),
  detail text not null default '',
  -- Sale and sum of its refunds so far, from providers that report no single refunds.
  refunded_sale text,
  refunded_minor integer
) strict;
create unique index integrations_hook_events_external_id on integrations_hook_events (hook_id, external_id);
create index integrations_hook_events_received_at on integrations_hook_events (hook_id, received_at);
create index integrations_hook_events_age on integrations_hook_events (received_at);
create index integrations_hook_events_bodies on integrations_hook_events (received_at) where body_secret_id is not null;
create index integrations_hook_events_refunded on integrations_hook_events (hook_id, refunded_sale) where refunded_sale is not null;
