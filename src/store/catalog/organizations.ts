import type { Invitation } from "../../domain/invitation.ts"
import { DEFAULT_POLICY, type Organization, type OrganizationPolicy } from "../../domain/organization.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const ORGANIZATION = sql`id, name, policy_json, created_at, updated_at, version`
type OrganizationRow = Omit<Organization, "policy"> & { policy_json: string }

/** Inserts an organization. Absent fields of its policy have their defaults. */
export async function insertOrganization(
  catalog: Statements,
  { name, policy = {}, now }: { name: string; policy?: Partial<OrganizationPolicy>; now: number },
): Promise<Organization> {
  const row = await catalog.get<OrganizationRow>(sql`
    insert into organizations (name, policy_json, created_at, updated_at)
    values (${name}, ${JSON.stringify(policy)}, ${now}, ${now})
    returning ${ORGANIZATION}`)
  return toOrganization(row!) // an insert that returns has a row
}

/** Lists the organizations after an id, by id ascending, without deleted ones. */
export async function listOrganizations(catalog: Statements, { after, limit }: Slice): Promise<Organization[]> {
  const rows = await catalog.all<OrganizationRow>(sql`
    select ${ORGANIZATION} from organizations where id > ${after} and deleted_at is null order by id limit ${limit}`)
  return rows.map(toOrganization)
}

/** Returns the instance's only organization if it has no members. */
export async function soleEmptyOrganization(catalog: Statements): Promise<Organization | undefined> {
  const row = await catalog.get<OrganizationRow>(sql`
    select ${ORGANIZATION} from organizations o
    where deleted_at is null
      and not exists (select 1 from memberships where organization_id = o.id)
      and not exists (select 1 from organizations other where other.id <> o.id and other.deleted_at is null)`)
  return row && toOrganization(row)
}

export async function organizationById(catalog: Statements, id: number): Promise<Organization | undefined> {
  const row = await catalog.get<OrganizationRow>(sql`select ${ORGANIZATION} from organizations where id = ${id} and deleted_at is null`)
  return row && toOrganization(row)
}

export async function updateOrganization(
  catalog: Statements,
  id: number,
  { name, policy }: Pick<Organization, "name" | "policy">,
  now: number,
): Promise<Organization> {
  const row = await catalog.get<OrganizationRow>(sql`
    update organizations set name = ${name}, policy_json = ${JSON.stringify(policy)}, updated_at = ${now}, version = version + 1
    where id = ${id}
    returning ${ORGANIZATION}`)
  return toOrganization(row!) // the caller has seen it in this transaction
}

/** Numbers of an organization's members, sites and active keys. */
export interface OrganizationCounts {
  members: number
  sites: number
  keys: number
}

export async function organizationCounts(catalog: Statements, id: number, now: number): Promise<OrganizationCounts> {
  const row = await catalog.get<OrganizationCounts>(sql`
    select
      (select count(*) from memberships where organization_id = ${id}) as members,
      (select count(*) from sites where organization_id = ${id} and deleted_at is null) as sites,
      (select count(*) from api_keys
        where organization_id = ${id} and revoked_at is null and expired_at is null and (expires_at is null or expires_at > ${now})
      ) as keys`)
  return row! // a select of counts has a row
}

/**
 * Marks an organization as deleted and ends all access to it: memberships, site-specific roles, invitations, keys, domains, identity
 * providers with their secrets and identities, connections to outside services, and the sessions they started. Marks its sites as deleted and returns their ids.
 */
export async function deleteOrganization(
  catalog: Statements,
  id: number,
  { now, by }: { now: number; by: number | null },
): Promise<number[]> {
  await catalog.run(sql`update organizations set deleted_at = ${now}, version = version + 1 where id = ${id}`)
  await catalog.run(sql`delete from site_members where site_id in (select id from sites where organization_id = ${id})`)
  await catalog.run(sql`delete from memberships where organization_id = ${id}`)
  await catalog.run(sql`
    update invitations set revoked_at = ${now} where organization_id = ${id} and accepted_at is null and revoked_at is null`)
  await catalog.run(sql`update api_keys set revoked_at = ${now}, revoked_by = ${by} where organization_id = ${id} and revoked_at is null`)
  await catalog.run(sql`delete from organization_domains where organization_id = ${id}`)
  const own = sql`select id from oidc_providers where organization_id = ${id}`
  await catalog.run(sql`delete from oidc_identities where provider in (${own})`)
  await catalog.run(sql`update oidc_providers set enabled = 0, secret_id = null where organization_id = ${id}`)
  await catalog.run(sql`delete from secrets where place_table = 'oidc_providers' and place_row in (${own})`)
  const connected = sql`select id from connections where organization_id = ${id}`
  await catalog.run(sql`update connections set secret_id = null where organization_id = ${id}`)
  await catalog.run(sql`delete from secrets where place_table = 'connections' and place_row in (${connected})`)
  await catalog.run(sql`delete from connections where organization_id = ${id}`)
  await catalog.run(sql`update sessions set revoked_at = ${now} where organization_id = ${id} and revoked_at is null`)
  const sites = await catalog.all<{ id: number }>(sql`
    update sites set deleted_at = ${now} where organization_id = ${id} and deleted_at is null returning id`)
  return sites.map((site) => site.id)
}

/** Converts a row to an organization. Missing fields of the policy have their defaults. */
function toOrganization({ policy_json, ...row }: OrganizationRow): Organization {
  const policy = JSON.parse(policy_json) as Partial<OrganizationPolicy> // written by this file
  return { ...row, policy: { ...DEFAULT_POLICY, ...policy } }
}

const INVITATION = sql`
  id, organization_id, email, email_key, role, site_ids_json, invited_by, created_at, expires_at, sent_at, accepted_at, revoked_at,
  expired_at, site_role`
type InvitationRow = Omit<Invitation, "site_ids"> & { site_ids_json: string }

export type NewInvitation = Pick<
  Invitation,
  "organization_id" | "email" | "email_key" | "role" | "site_ids" | "site_role" | "invited_by" | "created_at" | "expires_at" | "sent_at"
>

export async function insertInvitation(catalog: Statements, invitation: NewInvitation, tokenHash: Uint8Array): Promise<Invitation> {
  const row = await catalog.get<InvitationRow>(sql`
    insert into invitations (
      organization_id, email, email_key, role, site_ids_json, site_role, token_hash, invited_by, created_at, expires_at, sent_at
    ) values (
      ${invitation.organization_id}, ${invitation.email}, ${invitation.email_key}, ${invitation.role},
      ${JSON.stringify(invitation.site_ids)}, ${invitation.site_role}, ${tokenHash}, ${invitation.invited_by},
      ${invitation.created_at}, ${invitation.expires_at}, ${invitation.sent_at}
    ) returning ${INVITATION}`)
  return toInvitation(row!) // an insert that returns has a row
}

/** Lists the invitations after an id that were neither accepted nor revoked, by id ascending, including expired ones. */
export async function listPendingInvitations(catalog: Statements, organizationId: number, { after, limit }: Slice): Promise<Invitation[]> {
  const rows = await catalog.all<InvitationRow>(sql`
    select ${INVITATION} from invitations
    where organization_id = ${organizationId} and id > ${after} and accepted_at is null and revoked_at is null
    order by id limit ${limit}`)
  return rows.map(toInvitation)
}

/** Returns an invitation that was neither accepted nor revoked. It can have expired. */
export async function pendingInvitation(catalog: Statements, organizationId: number, id: number): Promise<Invitation | undefined> {
  const row = await catalog.get<InvitationRow>(sql`
    select ${INVITATION} from invitations
    where organization_id = ${organizationId} and id = ${id} and accepted_at is null and revoked_at is null`)
  return row && toInvitation(row)
}

/** Returns an invitation by the hash of its token, in any state. */
export async function invitationByTokenHash(catalog: Statements, tokenHash: Uint8Array): Promise<Invitation | undefined> {
  const row = await catalog.get<InvitationRow>(sql`select ${INVITATION} from invitations where token_hash = ${tokenHash}`)
  return row && toInvitation(row)
}

/** Counts the invitations that can still be accepted, and those created after a moment. */
export async function countInvitations(
  catalog: Statements,
  organizationId: number,
  { now, since }: { now: number; since: number },
): Promise<{ open: number; recent: number }> {
  const row = await catalog.get<{ open: number; recent: number }>(sql`
    select
      count(*) filter (
        where accepted_at is null and revoked_at is null and expired_at is null and expires_at > ${now}
      ) as open,
      count(*) filter (where created_at > ${since}) as recent
    from invitations where organization_id = ${organizationId} and expires_at > ${since}`)
  return row! // a count has a row
}

/** Revokes the pending invitations to an address, before a new one is sent to it. */
export const revokeInvitationsTo = (catalog: Statements, organizationId: number, emailKey: string, now: number): Promise<void> =>
  catalog.run(sql`
    update invitations set revoked_at = ${now}
    where organization_id = ${organizationId} and email_key = ${emailKey} and accepted_at is null and revoked_at is null`)

export const revokeInvitation = (catalog: Statements, id: number, now: number): Promise<void> =>
  catalog.run(sql`update invitations set revoked_at = ${now} where id = ${id}`)

/** Renews an invitation with a new token. The previous token stops working. */
export async function renewInvitation(
  catalog: Statements,
  id: number,
  tokenHash: Uint8Array,
  { invited_by, expires_at, sent_at }: Pick<Invitation, "invited_by" | "expires_at" | "sent_at">,
): Promise<Invitation> {
  const row = await catalog.get<InvitationRow>(sql`
    update invitations
    set token_hash = ${tokenHash}, invited_by = ${invited_by}, expires_at = ${expires_at}, sent_at = ${sent_at}, expired_at = null
    where id = ${id} returning ${INVITATION}`)
  return toInvitation(row!) // the caller has seen it in this transaction
}

export const markAccepted = (catalog: Statements, id: number, userId: number, now: number): Promise<void> =>
  catalog.run(sql`update invitations set accepted_at = ${now}, accepted_by = ${userId} where id = ${id}`)

/** Marks invitations as expired, so that they stay expired when the clock is set back. */
export const expireInvitations = (catalog: Statements, now: number): Promise<void> =>
  catalog.run(sql`
    update invitations set expired_at = ${now}
    where expired_at is null and expires_at <= ${now} and accepted_at is null and revoked_at is null`)

/** Marks a user's address as verified: opening the link in an invitation proves that the user receives email there. */
export const verifyEmail = (catalog: Statements, userId: number, now: number): Promise<void> =>
  catalog.run(sql`update users set email_verified_at = ${now} where id = ${userId} and email_verified_at is null`)

function toInvitation({ site_ids_json, ...row }: InvitationRow): Invitation {
  return { ...row, site_ids: JSON.parse(site_ids_json) as number[] } // written here
}
