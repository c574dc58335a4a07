create table revenue_chunks (
  site_id integer not null,
  chunk integer not null,
  min_at integer not null,
  max_at integer not null,
  min_sale_at integer not null,
  max_sale_at integer not null,
  currencies text not null,
  rows blob not null,
  items blob,
  primary key (site_id, chunk)
) strict;
