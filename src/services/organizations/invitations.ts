import type { AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import {
  alreadyMember,
  type Invitation,
  type Invited,
  invitationNotFound,
  parseInvitation,
  parseSiteInvitation,
  tooManyInvitations,
} from "../../domain/invitation.ts"
import type { ApiKey } from "../../domain/key.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import { isAbove, missingPermission, permissionsOfRole, refuseUnheldPermissions, tooManyMembers } from "../../domain/membership.ts"
import type { Organization, Role } from "../../domain/organization.ts"
import { allPermissions, organizationPermissions, type Permissions } from "../../domain/permission.ts"
import { invitedEvent } from "../../domain/product-event.ts"
import type { Site } from "../../domain/site.ts"
import { caseKey } from "../../domain/text.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { countMembers, memberByEmailKey, membershipOf } from "../../store/catalog/members.ts"
import {
  countInvitations,
  insertInvitation,
  listPendingInvitations,
  organizationById,
  pendingInvitation,
  renewInvitation,
  revokeInvitation,
  revokeInvitationsTo,
} from "../../store/catalog/organizations.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Outbox } from "../jobs/outbox.ts"
import { inSlices } from "../lists/paging.ts"
import type { MailQueue } from "../mail/mail.ts"
import { invitationEmail } from "../mail/texts.ts"
import type { Random } from "../secrets/secrets.ts"
import { tokenHash } from "../sign-in/sessions.ts"
import type { SiteMembers } from "../sites/site-members.ts"
import type { Sites } from "../sites/sites.ts"
import type { Giver } from "./members.ts"

/** An invitation and, if no email was sent, its link. The link is shown only once. */
export type SentInvitation = Invitation & { link?: string }

export interface InvitationTerms {
  alongside?: Alongside<Invitation>
  /** Receives the invitation with its link, to store the response for idempotent retries. */
  storeResponse?: Alongside<SentInvitation>
}

/** Invitations to join an organization. */
export interface Invitations {
  /**
   * Creates an invitation and revokes an earlier one to the same address. Throws `validation_failed`, `forbidden` for a role higher than
   * the sender's, `already_member`, `limit_reached`.
   */
  create(organization: Organization, body: unknown, by: Giver, terms?: InvitationTerms): Promise<SentInvitation>
  /**
   * Invites a guest to one site for an API key, which acts within its scopes and the permissions of its creator. Throws the errors of
   * `create`.
   */
  createForSite(site: Site, body: unknown, key: ApiKey, terms?: InvitationTerms): Promise<SentInvitation>
  /** Returns the invitations that are neither accepted nor withdrawn, including expired ones, by ascending id. */
  list(organizationId: number): Promise<Invitation[]>
  /** Returns one of these invitations. Throws `invitation_not_found`. */
  get(organizationId: number, id: string | undefined): Promise<Invitation>
  /** Sends an invitation again, with a new token and expiry. Throws `forbidden`, and `rate_limited` shortly after the last email. */
  resend(organization: Organization, id: string | undefined, by: Giver, terms?: InvitationTerms): Promise<SentInvitation>
  remove(organizationId: number, id: string | undefined, alongside?: Alongside<Invitation>): Promise<void>
}

interface InvitationsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  permissions: Permissions
  sites: Pick<Sites, "list">
  siteMembers: Pick<SiteMembers, "refuseGiving">
  mail: Pick<MailQueue, "isOn" | "post" | "wake">
  outbox: Pick<Outbox, "write">
  /** Returns the base URL of the instance. */
  publicUrl(): string
}

const DAY_MS = 86_400_000
const TOKEN_BYTES = 32

export function createInvitations({
  catalog,
  clock,
  random,
  permissions,
  sites,
  siteMembers,
  mail,
  outbox,
  publicUrl,
}: InvitationsOptions): Invitations {
  const newToken = () => random(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true })
  const linkTo = (token: string) => `${publicUrl()}/invite/${token}`
  const endFrom = (now: number) => now + ORGANIZATION.invitationDays * DAY_MS
  const withLink = (invitation: Invitation, token: string): SentInvitation =>
    invitation.sent_at !== null ? invitation : { ...invitation, link: linkTo(token) }

  async function refuseGiver(statements: Statements, organizationId: number, by: Giver, role: Role): Promise<void> {
    if (by === "instance") return
    const giver = await membershipOf(statements, organizationId, by)
    if (!giver || !organizationPermissions(giver, permissions).has("members:write")) throw missingPermission("members:write")
    if (isAbove(role, giver.role)) throw new AppError("forbidden", "This role is higher than your own.")
    refuseUnheldPermissions(permissionsOfRole(role, permissions), allPermissions(giver, permissions))
  }
  async function find(statements: Statements, organizationId: number, id: string | undefined): Promise<Invitation> {
    const invitation = await pendingInvitation(statements, organizationId, parseId(id) ?? 0)
    if (!invitation) throw invitationNotFound()
    return invitation
  }
  /** Queues the email in the transaction that stores the token. */
  const post = (statements: Statements, organization: Organization, invitation: Invitation, token: string) =>
    mail.post(statements, invitationEmail(organization, invitation, linkTo(token)))

  /** Stores an invitation, if the sender returned by `giverOf` may send it. */
  async function invite(
    organizationId: number,
    fields: Invited,
    giverOf: (statements: Statements) => Promise<Giver>,
    { alongside, storeResponse }: InvitationTerms = {},
  ): Promise<SentInvitation> {
    const token = newToken()
    const invitation = await catalog.transaction(async (statements) => {
      const now = clock.now()
      const email_key = caseKey(fields.email)
      const organization = (await organizationById(statements, organizationId))! // sites and members have one
      const by = await giverOf(statements)
      await refuseGiver(statements, organizationId, by, fields.role)
      const member = await memberByEmailKey(statements, organizationId, email_key)
      if (member) throw alreadyMember(member.user_id)
      await revokeInvitationsTo(statements, organizationId, email_key, now)
      await refuseTooMany(statements, organizationId, now)
      const terms = { organization_id: organizationId, invited_by: by === "instance" ? null : by, sent_at: mail.isOn() ? now : null }
      const made = { ...fields, ...terms, email_key, created_at: now, expires_at: endFrom(now) }
      const inserted = await insertInvitation(statements, made, tokenHash(token))
      await post(statements, organization, inserted, token)
      await outbox.write(statements, invitedEvent(inserted))
      await alongside?.(statements, { after: inserted })
      await storeResponse?.(statements, { after: withLink(inserted, token) })
      return inserted
    })
    mail.wake()
    return withLink(invitation, token)
  }

  return {
    async create(organization, body, by, terms) {
      const own = new Set((await sites.list(organization.id)).map(({ id }) => id))
      return invite(organization.id, parseInvitation(body, own), async () => by, terms)
    },
    async createForSite(site, body, key, terms) {
      const fields = parseSiteInvitation(body, site.id)
      return invite(
        site.organization_id,
        fields,
        async (statements) => {
          await siteMembers.refuseGiving(statements, site, fields.site_role, key)
          const creator = key.created_by === null ? undefined : await membershipOf(statements, site.organization_id, key.created_by)
          // The permissions of a creator who has left no longer limit the key.
          return creator?.user_id ?? "instance"
        },
        terms,
      )
    },
    list: (organizationId) => inSlices((slice) => listPendingInvitations(catalog, organizationId, slice)),
    get: (organizationId, id) => find(catalog, organizationId, id),
    async resend(organization, id, by, { alongside, storeResponse } = {}) {
      const token = newToken()
      const invitation = await catalog.transaction(async (statements) => {
        const now = clock.now()
        const before = await find(statements, organization.id, id)
        await refuseGiver(statements, organization.id, by, before.role)
        refuseHaste(before, now)
        const terms = { invited_by: by === "instance" ? null : by, expires_at: endFrom(now), sent_at: mail.isOn() ? now : null }
        const after = await renewInvitation(statements, before.id, tokenHash(token), terms)
        await post(statements, organization, after, token)
        await alongside?.(statements, { before, after })
        await storeResponse?.(statements, { after: withLink(after, token) })
        return after
      })
      mail.wake()
      return withLink(invitation, token)
    },
    async remove(organizationId, id, alongside) {
      await catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, id)
        await revokeInvitation(statements, before.id, clock.now())
        await alongside?.(statements, { before })
      })
    },
  }
}

async function refuseTooMany(statements: Statements, organizationId: number, now: number): Promise<void> {
  const { open, recent } = await countInvitations(statements, organizationId, { now, since: now - DAY_MS })
  if (open >= ORGANIZATION.openInvitations) throw tooManyInvitations(ORGANIZATION.openInvitations, "open invitations")
  if (recent >= ORGANIZATION.invitationsPerDay) throw tooManyInvitations(ORGANIZATION.invitationsPerDay, "new invitations per day")
  if ((await countMembers(statements, organizationId)) >= ORGANIZATION.members) throw tooManyMembers()
}

/** Throws `rate_limited` if the last email was sent a moment ago, so that repeated clicks do not fill a mailbox. */
function refuseHaste({ sent_at }: Invitation, now: number): void {
  const wait = (sent_at ?? 0) + ORGANIZATION.invitationPauseMs - now
  if (sent_at !== null && wait > 0)
    throw new AppError("rate_limited", "This invitation was sent a moment ago. Wait before you resend it.", {
      retry_after: Math.ceil(wait / 1_000),
    })
}

/** Returns the audit entry of an action on an invitation. */
export const invitationEntry =
  (verb: string) =>
  ({ id, email, organization_id }: Invitation): AuditEntry => ({
    action: `accounts.invitation.${verb}`,
    target: { type: "invitation", id, label: email },
    organizationId: organization_id,
  })
