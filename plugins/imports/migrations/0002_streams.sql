-- Secret with the key of the lines' hashes.
alter table imports_streams add column key_secret_id integer;
-- Secret with the salts of the days, and the time at which the first of them is destroyed. Null without salts.
alter table imports_streams add column salts_secret_id integer;
alter table imports_streams add column salts_expire_at integer;
-- Time since which the oldest row of an open visit waits. Null if none waits.
alter table imports_streams add column waiting_since integer;
create index imports_streams_salts_expire_at on imports_streams (salts_expire_at) where salts_expire_at is not null;
create index imports_streams_waiting_since on imports_streams (waiting_since) where waiting_since is not null;
