-- Each index by what is random changes another page for each new transaction. A tracked sale is therefore found by its own ID, by its event,
-- and by the visitor as a part of the index by time, which only the erasure of a person reads as a whole.
drop index revenue_transactions_order_id;
create index revenue_transactions_order_id on revenue_transactions (site_id, order_id) where order_id is not null
  and not (type = 'sale' and provider in ('tracker', 'import') and external_id = 'order:' || order_id);
drop index revenue_transactions_visitor;
drop index revenue_transactions_occurred_at;
create index revenue_transactions_occurred_at on revenue_transactions (site_id, occurred_at, id, visitor);
drop index revenue_transactions_visit_sequence;
create index revenue_transactions_visit_sequence on revenue_transactions (site_id, visit_sequence)
  where visit_sequence is not null and sale_sequence is null;
create index revenue_transactions_sale_sequence on revenue_transactions (site_id, sale_sequence) where sale_sequence is not null;
