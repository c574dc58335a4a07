-- The erasure of a person finds their transactions by it.
create index revenue_transactions_person on revenue_transactions (site_id, person) where person is not null;
