-- How a visitor with a lasting id is recognized, and since when. Rows of earlier versions learn it when the visitor comes back.
alter table identities add column kind text check (kind in ('device', 'user'));
alter table identities add column first_identified_at integer;
-- Exact to a day, so that an event seldom writes here.
alter table identities add column last_identified_at integer;
-- Only where the site stores user ids.
alter table identities add column user_id text;
create index identities_ordinal on identities (site_id, ordinal);
create index identities_user on identities (site_id, user_id) where user_id is not null;
