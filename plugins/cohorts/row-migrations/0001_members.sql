create table cohorts_members (
  cohort_id integer not null,
  chunk integer not null,
  visitors blob not null,
  primary key (cohort_id, chunk)
) strict, without rowid;
