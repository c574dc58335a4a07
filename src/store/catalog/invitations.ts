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

/** Neither accepted nor withdrawn, by id ascending; those that are over too. */
export async function listPendingInvitations(catalog: Statements, organizationId: number, { after, limit }: Slice): Promise<Invitation[]> {
  const rows = await catalog.all<InvitationRow>(sql`
    select ${COLUMNS} from invitations
    where organization_id = ${organizationId} and id > ${after} and accepted_at is null and revoked_at is null
    order by id limit ${limit}`)
  return rows.map(toInvitation)
}

/** Neither accepted nor withdrawn; perhaps over. */
export async function pendingInvitation(catalog: Statements, organizationId: number, id: number): Promise<Invitation | undefined> {
  const row = await catalog.get<InvitationRow>(sql`
    select ${COLUMNS} from invitations
    where organization_id = ${organizationId} and id = ${id} and accepted_at is null and revoked_at is null`)
  return row && toInvitation(row)
}

/** Of whatever state. */
export async function invitationByTokenHash(catalog: Statements, tokenHash: Uint8Array): Promise<Invitation | undefined> {
  const row = await catalog.get<InvitationRow>(sql`select ${COLUMNS} from invitations where token_hash = ${tokenHash}`)
  return row && toInvitation(row)
}

/** Those that somebody can still accept, and those made since a moment. */
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

/** The one before is void when another one goes to the same address. */
export const revokeInvitationsTo = (catalog: Statements, organizationId: number, emailKey: string, now: number): Promise<void> =>
  catalog.run(sql`
    update invitations set revoked_at = ${now}
    where organization_id = ${organizationId} and email_key = ${emailKey} and accepted_at is null and revoked_at is null`)

export const revokeInvitation = (catalog: Statements, id: number, now: number): Promise<void> =>
  catalog.run(sql`update invitations set revoked_at = ${now} where id = ${id}`)

/** It goes on under another token; the old one is void. */
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

/** What is over by now stays over. */
export const expireInvitations = (catalog: Statements, now: number): Promise<void> =>
  catalog.run(sql`
    update invitations set expired_at = ${now}
    where expired_at is null and expires_at <= ${now} and accepted_at is null and revoked_at is null`)

/** Whoever came through the link that was sent to an address has shown that it is theirs. */
export const verifyEmail = (catalog: Statements, userId: number, now: number): Promise<void> =>
  catalog.run(sql`update users set email_verified_at = ${now} where id = ${userId} and email_verified_at is null`)

function toInvitation({ site_ids_json, ...row }: InvitationRow): Invitation {
  return { ...row, site_ids: JSON.parse(site_ids_json) as number[] } // written here
}
