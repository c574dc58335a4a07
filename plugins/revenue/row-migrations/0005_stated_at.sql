-- When a provider, a member or an erased event says that it occurred. Null if its sale events alone say so, and on older rows.
alter table revenue_transactions add column stated_at integer;
