-- The erasure of a person finds their transactions by it, week by week. Pseudonyms are random, so that an index by them alone would change
-- another page for each new transaction.
drop index revenue_transactions_visitor;
create index revenue_transactions_visitor on revenue_transactions (site_id, occurred_at / 604800000, visitor) where visitor is not null;
