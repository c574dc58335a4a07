-- Work that only one node does at a time, and the node that does it. When that node is no longer live, another one can take over.
create table turns (
  name text primary key,
  node integer not null references nodes (number)
) strict, without rowid;

-- A queued email is sent by the node whose turn that is.
create trigger mails_inserted after insert on mails begin insert into changing values ('mails', ''); end;
