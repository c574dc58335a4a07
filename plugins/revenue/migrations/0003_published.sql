-- The last transaction whose product event was published, when several nodes share the transactions: it is written together with the events.
create table revenue_published (
  id integer primary key check (id = 1),
  transaction_id integer not null
) strict;
