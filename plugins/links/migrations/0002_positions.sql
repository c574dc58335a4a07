-- How far the records of each node are counted; 0 is the only process of a catalog. `target` is the last record of a run that is not finished,
-- which has counted the things up to `done_id`.
create table links_positions (
  site_id integer not null,
  node integer not null,
  at integer not null,
  sequence integer not null,
  target integer,
  done_id integer not null,
  primary key (site_id, node)
) strict, without rowid;
insert into links_positions (site_id, node, at, sequence, done_id)
select site_id, 0, folded_at, sequence, 0 from links_folds;
drop table links_folds;
alter table links_links drop column counted_to;
