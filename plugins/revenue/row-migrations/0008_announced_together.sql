-- The last transaction of all sites whose product event was published. An index of those that are left would take a tenth of the time in
-- which a transaction is written.
create table revenue_announced (
  id integer primary key check (id = 1),
  transaction_id integer not null
) strict;
insert into revenue_announced (id, transaction_id) select 1, coalesce(
  (select min(id) - 1 from revenue_transactions left join revenue_cursor using (site_id) where is_announced = 0 and id > coalesce(announced_id, 0)),
  (select max(id) from revenue_transactions))
  where exists (select 1 from revenue_transactions);
update revenue_transactions set is_announced = 1
  where is_announced = 0 and id > (select transaction_id from revenue_announced)
  and id <= (select announced_id from revenue_cursor where revenue_cursor.site_id = revenue_transactions.site_id);
alter table revenue_cursor drop column announced_id;
drop index revenue_transactions_announced;
