import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { InvitationInput, InvitationResponse, isExpired, OfferResponse } from "../../../domain/invitation.ts"
import { API } from "../../../domain/limits.ts"
import { instantText } from "../../../domain/moment.ts"
import type { Organization } from "../../../domain/organization.ts"
import { Listed, named } from "../../../domain/response.ts"
import { parseEmptyBody } from "../../../domain/shape.ts"
import { type Audit, recorded } from "../../../services/audit/audit.ts"
import { pageOfAll, readPlainPaging } from "../../../services/lists/paging.ts"
import type { Acceptance } from "../../../services/organizations/acceptance.ts"
import { type Invitations, invitationEntry, type SentInvitation } from "../../../services/organizations/invitations.ts"
import { readNothing, readOptionalJson } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/requests.ts"
import { NoQuery, Sent, takes } from "../../public/requests.ts"
import { type GuestOptions, guests } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { ListQuery, refuses } from "../responses.ts"

export interface InvitationRoutesOptions extends GuestOptions {
  invitations: Invitations
  acceptance: Acceptance
  audit: Audit
}

const JoinedResponse = t.Object({ organization: named("Organization that the user joined.") })

const operation = (summary: string) => ({ summary, tags: ["invitations"] })
const PATH = "/api/private/organizations/:organization"

/** Creates the routes for the invitations of an organization. */
export function invitationRoutes(router: PrivateRouter, create: ReturnType<typeof creation>, options: InvitationRoutesOptions) {
  const { invitations, audit, now } = options
  const show = (invitation: SentInvitation) => toInvitationResponse(invitation, now())
  const find = ({ id }: Record<string, string | undefined>, { organization }: { organization?: Organization }) =>
    invitations.get(organization!.id, id) // routes below an organization have one

  return new Elysia({ prefix: PATH })
    .use(router)
    .post(
      "/members/invite",
      ({ organization, user, actor, ...call }) =>
        create<SentInvitation, InvitationResponse>(
          { ...call, user },
          (body, storeResponse) =>
            invitations.create(organization, body, user.id, {
              alongside: recorded(audit, actor, invitationEntry("create")),
              ...(storeResponse && { storeResponse }),
            }),
          (invitation) => ({
            location: `/api/private/organizations/${organization.id}/invitations/${invitation.id}`,
            body: show(invitation),
          }),
        ),
      {
        canOrganization: { permission: "members:write", personal: true },
        query: NoQuery,
        body: Sent,
        response: { 201: InvitationResponse },
        detail: { ...operation("Invite a member"), ...refuses("already_member", "rate_limited"), ...takes(InvitationInput) },
      },
    )
    .get(
      "/invitations",
      async ({ organization, query }) => {
        const paging = readPlainPaging(`invitations/${organization.id}`, query)
        const page = await pageOfAll(paging, await invitations.list(organization.id))
        return { ...page, data: page.data.map(show) }
      },
      {
        canOrganization: "members:read",
        query: ListQuery,
        response: { 200: Listed(InvitationResponse) },
        detail: operation("List invitations"),
      },
    )
    .post(
      "/invitations/:id/resend",
      ({ organization, user, params, actor, ...call }) =>
        create<SentInvitation, InvitationResponse>(
          { ...call, user },
          (body, storeResponse) => {
            parseEmptyBody(body)
            return invitations.resend(organization, params.id, user.id, {
              alongside: recorded(audit, actor, invitationEntry("resend")),
              ...(storeResponse && { storeResponse }),
            })
          },
          (invitation) => ({ status: 200, body: show(invitation) }),
        ),
      {
        canOrganization: { permission: "members:write", personal: true, find, read: readOptionalJson(API.privateBodyBytes) },
        query: NoQuery,
        body: Sent,
        response: { 200: InvitationResponse },
        detail: operation("Resend an invitation with a new link"),
      },
    )
    .delete(
      "/invitations/:id",
      async ({ organization, params, actor, status }) => {
        await invitations.remove(organization.id, params.id, recorded(audit, actor, invitationEntry("delete")))
        return status(204, undefined)
      },
      {
        canOrganization: { permission: "members:write", personal: true, read: readNothing },
        query: NoQuery,
        detail: operation("Withdraw an invitation"),
      },
    )
}

/** Creates the routes behind the link of an invitation. */
export function acceptanceRoutes(router: PrivateRouter, options: InvitationRoutesOptions) {
  const { acceptance, cookie } = options
  const { guestOf, startSession } = guests(options)
  // A value that is not text arrives as null.
  const tokenIn = ({ token }: Record<string, string | undefined>): string => token ?? ""
  const find = (params: Record<string, string | undefined>) => acceptance.find(tokenIn(params))

  return new Elysia({ prefix: "/api/private/invitations" })
    .use(router)
    .use(cookie.writer())
    .get(
      "/:token",
      async ({ params }) => {
        const { invitation, organization, sites, hasAccount } = await acceptance.find(tokenIn(params))
        return {
          organization: { id: organization.id, name: organization.name },
          role: invitation.role,
          email: invitation.email,
          sites: sites.map(({ id, name }) => ({ id, name })),
          expires_at: instantText(invitation.expires_at),
          has_account: hasAccount,
        }
      },
      {
        open: true,
        query: NoQuery,
        response: { 200: OfferResponse },
        detail: { ...operation("Get an invitation by its token"), ...refuses("invitation_not_found") },
      },
    )
    .post(
      "/:token/accept",
      async (context) => {
        const { params, body, person } = context
        const [token, guest] = [tokenIn(params), guestOf(context)]
        if (person) return toJoinedResponse(await acceptance.bySignedIn(token, body.value, person, guest))
        const joined = await acceptance.bySigningUp(token, body.value, guest)
        if (joined.signedIn) startSession(context, joined.signedIn)
        return toJoinedResponse(joined.organization)
      },
      {
        open: { waits: true, find, read: readOptionalJson(API.privateBodyBytes) },
        query: NoQuery,
        body: Sent,
        response: { 200: JoinedResponse },
        detail: {
          ...operation("Accept an invitation, signed in or with a new account"),
          ...refuses(
            "invitation_not_found",
            "invitation_for_other_email",
            "forbidden",
            "impersonation_read_only",
            "mfa_enrollment_required",
            "already_member",
            "limit_reached",
            "insecure_connection",
            "rate_limited",
          ),
          ...BODIES.accept,
        },
      },
    )
}

const toJoinedResponse = ({ id, name }: Organization): Static<typeof JoinedResponse> => ({ organization: { id, name } })

function toInvitationResponse(invitation: SentInvitation, now: number): InvitationResponse {
  const { id, email, role, site_ids, site_role, invited_by, created_at, expires_at, sent_at, link } = invitation
  return {
    id,
    email,
    role,
    site_ids: [...site_ids],
    site_role: role === "guest" ? site_role : null,
    invited_by,
    created_at: instantText(created_at),
    expires_at: instantText(expires_at),
    sent_at: sent_at === null ? null : instantText(sent_at),
    state: isExpired(invitation, now) ? "expired" : "open",
    ...(link !== undefined && { link }),
  }
}
