-- The role that a guest gets on the sites of the invitation. Other roles are those of the whole organization.
alter table invitations add column site_role text not null default 'viewer' check (site_role in ('admin', 'editor', 'viewer'));
