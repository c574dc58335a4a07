-- What was once found to be over stays over, whatever the clock says later.
alter table api_keys add column expired_at integer;
alter table invitations add column expired_at integer;

-- In days: the last notice that an end is near. 14, then 3.
alter table api_keys add column expiry_notice integer;
create index api_keys_expires_at on api_keys (expires_at) where expires_at is not null and revoked_at is null;
create index api_keys_prev_valid_until on api_keys (prev_valid_until) where prev_hash is not null;

-- Counts of a key's requests by day (UTC), route and class of status, such as `2xx`.
create table key_usage (
  key_id integer not null references api_keys (id) on delete cascade,
  day text not null,
  route text not null,
  status text not null,
  requests integer not null,
  primary key (key_id, day, route, status)
) strict, without rowid;
create index key_usage_day on key_usage (day);
