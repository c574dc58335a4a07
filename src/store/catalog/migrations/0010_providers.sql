-- Identity providers of organizations, as their admins write them. The client's secret lies with the other secrets; none was
-- stored in the row, for nothing wrote it.

alter table oidc_providers drop column secret_sealed;
alter table oidc_providers add column secret_id integer references secrets (id);
alter table oidc_providers add column updated_at integer not null default 0;
create index oidc_providers_organization_id on oidc_providers (organization_id);
