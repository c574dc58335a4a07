-- What connects a site or an organization to an outside service. URLs and tokens are stored with the other secrets.
create table integrations_integrations (
  id integer primary key autoincrement,
  organization_id integer not null,
  -- null for one of the whole organization.
  site_id integer,
  kind text not null,
  name text not null,
  connection_id integer,
  status text not null default 'ok' check (status in ('disconnected', 'connecting', 'ok', 'degraded', 'needs_reauth', 'error')),
  config_json text not null default '{}',
  secret_id integer,
  account_label text not null default '',
  last_ok_at integer,
  last_error_code text,
  last_error_at integer,
  next_run_at integer,
  notified_at integer,
  created_by integer,
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create index integrations_integrations_organization_id on integrations_integrations (organization_id, site_id);
create index integrations_integrations_site_id on integrations_integrations (site_id);
create index integrations_integrations_connection_id on integrations_integrations (connection_id);

create table integrations_webhooks (
  id integer primary key autoincrement,
  organization_id integer not null,
  site_id integer,
  url_secret_id integer not null,
  url_label text not null,
  description text not null default '',
  events_json text not null,
  -- Ids of at most two secrets, newest first, each with the end of its validity.
  secrets_json text not null,
  enabled integer not null default 1,
  disabled_reason text,
  -- Since when no delivery has succeeded. null while the last attempt succeeded.
  failing_since integer,
  -- Until when the receiver has asked not to be called.
  paused_until integer,
  -- Sequence number of the last delivery.
  sequence integer not null default 0,
  created_by integer,
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create index integrations_webhooks_organization_id on integrations_webhooks (organization_id, site_id);
create index integrations_webhooks_site_id on integrations_webhooks (site_id);

create table integrations_deliveries (
  id integer primary key autoincrement,
  webhook_id integer not null,
  -- Product event. null for the test event `ping`.
  outbox_id integer,
  event text not null,
  message_id text not null,
  sequence integer not null,
  attempt integer not null default 0,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'dead')),
  status integer,
  code text,
  ms integer,
  response_excerpt text,
  -- Time of the next attempt. null if there is none.
  next_at integer,
  created_at integer not null
) strict;
create unique index integrations_deliveries_event on integrations_deliveries (webhook_id, outbox_id);
create index integrations_deliveries_due on integrations_deliveries (webhook_id, next_at) where next_at is not null;
create index integrations_deliveries_stopped on integrations_deliveries (webhook_id, id) where state = 'failed' and next_at is null;
create index integrations_deliveries_webhook_id on integrations_deliveries (webhook_id, id);
create index integrations_deliveries_created_at on integrations_deliveries (created_at);
