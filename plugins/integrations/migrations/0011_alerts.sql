-- Alerts about the traffic of a site. `threshold`, `factor` and `window_minutes` have a meaning per type.
create table integrations_alerts (
  id integer primary key autoincrement,
  site_id integer not null,
  type text not null check (type in ('spike', 'drop', 'no_data', 'goal', 'not_found')),
  threshold integer not null,
  factor real,
  window_minutes integer,
  goal_id integer,
  channels_json text not null default '[]',
  enabled integer not null default 1,
  -- Since when the condition holds that it was fired for. null while it is silent.
  firing_since integer,
  last_fired_at integer,
  previous_fired_at integer,
  created_by integer,
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create index integrations_alerts_site_id on integrations_alerts (site_id, id);

-- Sites whose alerts wait until an import of the present day is over.
create table integrations_alert_pauses (
  site_id integer primary key,
  import_id integer not null,
  until integer not null
) strict;

-- Conversions of a goal since a moment, as they were last published. Only for goals whose completions a webhook or chat receives.
create table integrations_goal_counts (
  site_id integer not null,
  goal_id integer not null,
  -- The definition that was counted. Another one begins a new count.
  rule text not null,
  since integer not null,
  counted integer not null,
  primary key (site_id, goal_id)
) strict;
