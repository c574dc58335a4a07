-- What signing in keeps beside the accounts.

-- Of a session that an identity provider opened: where signing out goes on.
alter table sessions add column provider text;

-- Whose rights have changed gets a new token with the next answer. The one before is good for a moment more: a page asks
-- several things at once.
alter table sessions add column renewal_wanted integer not null default 0 check (renewal_wanted in (0, 1));
alter table sessions add column previous_hash blob;
alter table sessions add column previous_until integer;
create index sessions_previous_hash on sessions (previous_hash) where previous_hash is not null;

-- The identity provider whose map gave a role; null: people gave it. What they had given before comes back with the map's end.
alter table memberships add column provider text;
alter table memberships add column given_role text;
alter table site_members add column provider text;

-- Mails that wait to be sent. They hold links that let people in, so they are sealed, each under a name of its own.
create table mails (
  id integer primary key autoincrement,
  name text not null,
  sealed blob not null,
  attempts integer not null default 0,
  due_at integer not null,
  created_at integer not null
) strict;
create index mails_due_at on mails (due_at, id);
