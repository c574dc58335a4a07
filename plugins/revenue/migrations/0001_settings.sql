create table revenue_settings (
  site_id integer primary key,
  base_currency text,
  refund_basis text not null default 'refund_date' check (refund_basis in ('refund_date', 'order_date')),
  include_client integer not null default 1,
  lookback_days integer not null default 30,
  ignored_referrers_json text,
  recompute_state text not null default 'done' check (recompute_state in ('queued', 'running', 'done')),
  recompute_request_json text,
  version integer not null default 1
) strict;
