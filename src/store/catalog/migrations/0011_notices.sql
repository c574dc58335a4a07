-- What whoever runs the instance must know. One of a kind is open at a time; it ends by itself, or when somebody has seen it.
create table notices (
  id integer primary key autoincrement,
  kind text not null,
  detail_json text not null,
  first_at integer not null,
  last_at integer not null,
  -- When mails and product events last told of it; kept over notices of the same kind, so that nobody is told twice a day.
  told_at integer,
  ended_at integer,
  dismissed_by integer references users (id)
) strict;
create unique index notices_open on notices (kind) where ended_at is null;
