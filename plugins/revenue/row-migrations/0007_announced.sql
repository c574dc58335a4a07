-- The last transaction whose product event was published. A mark on each of them would write every transaction once more.
alter table revenue_cursor add column announced_id integer not null default 0;
