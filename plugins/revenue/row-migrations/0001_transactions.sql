create table revenue_transactions (
  id integer primary key autoincrement,
  site_id integer not null,
  provider text not null,
  external_id text not null,
  type text not null,
  order_id text,
  parent_id integer,
  parent_key text,
  amount_minor integer not null,
  amount_rank integer,
  currency text not null,
  tax_minor integer not null default 0,
  shipping_minor integer not null default 0,
  discount_minor integer not null default 0,
  base_minor integer,
  base_currency text,
  rate text,
  rate_day text,
  trust text not null,
  recurring text,
  import_id integer not null default 0,
  occurred_at integer not null,
  received_at integer not null,
  visitor text,
  visitor_kind text,
  visit_started_at integer,
  sale_sequence integer,
  visit_sequence integer,
  is_open integer not null default 0,
  is_announced integer not null default 0,
  person text,
  link_id integer,
  created_by integer,
  note text,
  flags_json text not null default '[]',
  dims_json text not null default '{}',
  touches_json text not null default '[]',
  items_json text not null default '[]',
  unique (site_id, provider, external_id, type)
) strict;
create index revenue_transactions_occurred_at on revenue_transactions (site_id, occurred_at, id);
create index revenue_transactions_order_id on revenue_transactions (site_id, order_id) where order_id is not null;
create index revenue_transactions_parent_id on revenue_transactions (parent_id) where parent_id is not null;
create index revenue_transactions_parent_key on revenue_transactions (site_id, parent_key) where parent_key is not null;
create index revenue_transactions_visitor on revenue_transactions (site_id, visitor) where visitor is not null;
create index revenue_transactions_visit_sequence on revenue_transactions (site_id, visit_sequence) where visit_sequence is not null;
create index revenue_transactions_open on revenue_transactions (site_id, is_open, id) where is_open > 0;
create index revenue_transactions_announced on revenue_transactions (site_id, id) where is_announced = 0;
create index revenue_transactions_import_id on revenue_transactions (site_id, import_id) where import_id > 0;

create table revenue_aliases (
  site_id integer not null,
  provider text not null,
  alias text not null,
  external_id text not null,
  transaction_id integer not null,
  primary key (site_id, provider, alias)
) strict, without rowid;
create index revenue_aliases_transaction_id on revenue_aliases (transaction_id);

create table revenue_voided (
  site_id integer not null,
  provider text not null,
  external_id text not null,
  type text not null,
  primary key (site_id, provider, external_id, type)
) strict, without rowid;

create table revenue_rates (
  site_id integer not null,
  day text not null,
  base text not null,
  quote text not null,
  rate text not null,
  source text not null,
  primary key (site_id, day, base, quote)
) strict, without rowid;

create table revenue_cursor (
  site_id integer primary key,
  position integer not null
) strict;
