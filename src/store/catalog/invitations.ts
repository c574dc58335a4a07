import type { Invitation } from "../../domain/invitation.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const COLUMNS = sql`
  id, organization_id, email, email_key, role, site_ids_json, invited_by, created_at, expires_at, sent_at, accepted_at, revoked_at,
  expired_at`
type InvitationRow = Omit<Invitation, "site_ids"> & { site_ids_json: string }

export type NewInvitation = Pick<
  Invitation,
  "organization_id" | "email" | "email_key" | "role" | "site_ids" | "invited_by" | "created_at" | "expires_at" | "sent_at"
>

export async function insertInvitation(catalog: Statements, invitation: NewInvitation, tokenHash: Uint8Array): Promise<Invitation> {
  const row = await catalog.get<InvitationRow>(sql`
    insert into invitations (
      organization_id, email, email_key, role, site_ids_json, token_hash, invited_by, created_at, expires_at, sent_at
    ) values (
      ${invitation.organization_id}, ${invitation.email}, ${invitation.email_key}, ${invitation.role},
      ${JSON.stringify(invitation.site_ids)}, ${tokenHash}, ${invitation.invited_by}, ${invitation.created_at},
      ${invitation.expires_at}, ${invitation.sent_at}
    ) returning ${COLUMNS}`)
  return toInvitation(row!) // an insert that returns has a row
}

/** Lists the invitations after an id that were neither accepted nor revoked, by id ascending, including expired ones. */
export async function listPendingInvitations(catalog: Statements, organizationId: number, { after, limit }: Slice): Promise<Invitation[]> {
  const rows = await catalog.all<InvitationRow>(sql`
    select ${COLUMNS} from invitations
    where organization_id = ${organizationId} and id > ${after} and accepted_at is null and revoked_at is null
    order by id limit ${limit}`)
  return rows.map(toInvitation)
}

/** Returns an invitation that was neither accepted nor revoked. It can have expired. */
export async function pendingInvitation(catalog: Statements, organizationId: number, id: number): Promise<Invitation | undefined> {
  const row = await catalog.get<InvitationRow>(sql`
    select ${COLUMNS} from invitations
    where organization_id = ${organizationId} and id = ${id} and accepted_at is null and revoked_at is null`)
  return row && toInvitation(row)
}

/** Returns an invitation by the hash of its token, in any state. */
export async function invitationByTokenHash(catalog: Statements, tokenHash: Uint8Array): Promise<Invitation | undefined> {
  const row = await catalog.get<InvitationRow>(sql`select ${COLUMNS} from invitations where token_hash = ${tokenHash}`)
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
    where id = ${id} returning ${COLUMNS}`)
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
