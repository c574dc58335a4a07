-- Reports by email or chat, and the people who receive them. `sections_json` lists what a report shows.
create table integrations_reports (
  id integer primary key autoincrement,
  site_id integer not null,
  kind text not null check (kind in ('daily', 'weekly', 'monthly')),
  channel text not null check (channel in ('email', 'chat')),
  recipients_json text not null default '[]',
  -- Hour of the day in the time zone of the site.
  hour integer not null,
  sections_json text not null,
  enabled integer not null default 1,
  -- Member whose own subscription it is. null for a report that others manage.
  user_id integer,
  -- Runs of periods that were sent: pairs of their last days. Several if periods were missed or the clock was changed.
  sent_json text not null default '[]',
  last_sent_at integer,
  -- Time of the last sending on request.
  sent_now_at integer,
  next_at integer not null,
  created_by integer,
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create index integrations_reports_site_id on integrations_reports (site_id, id);
create index integrations_reports_next_at on integrations_reports (next_at) where enabled = 1;

-- Recipients by a keyed hash, so that a person who has unsubscribed is remembered without the address.
create table integrations_recipients (
  id integer primary key autoincrement,
  report_id integer not null,
  email_key text not null,
  token_hash text not null unique,
  -- Each email contains the token.
  token_secret_id integer,
  -- Permanent failures in a row. After three, nothing more is sent.
  failures integer not null default 0,
  unsubscribed_at integer,
  -- Time of the last email that asked an unsubscribed person to confirm.
  asked_at integer
) strict;
create unique index integrations_recipients_email_key on integrations_recipients (report_id, email_key);
