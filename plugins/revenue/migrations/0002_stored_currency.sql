-- Currency to which stored amounts are converted. Null until it is first looked at.
alter table revenue_settings add column stored_currency text;
