import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { InvitationResponse, invitationNotFound, isExpired, SiteInvitationInput } from "../../domain/invitation.ts"
import { type ApiKey, reachesSite } from "../../domain/key.ts"
import { instantOrNull, instantText } from "../../domain/moment.ts"
import type { Site } from "../../domain/site.ts"
import { type Audit, recorded } from "../../services/audit/audit.ts"
import { pageOf, parseListing } from "../../services/definitions/listing.ts"
import { type Invitations, invitationEntry, type SentInvitation } from "../../services/organizations/invitations.ts"
import { readNothing } from "../../web/body.ts"
import type { Call } from "../../web/guard.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import { type creation, Listed, ListQuery, NoQuery, Sent, takes, writes } from "./requests.ts"

export interface SiteInvitationRoutesOptions {
  invitations: Invitations
  audit: Audit
  now(): number
}

const { id, email, created_at, expires_at, sent_at, state, link } = InvitationResponse.properties
const Invitation = t.Object(
  {
    ...{ id, email, role: SiteInvitationInput.properties.role },
    site_ids: t.Array(t.Integer(), { description: "Ids of the sites. An invitation that was sent in the dashboard can have several." }),
    ...{ created_at, expires_at, sent_at, state, link },
  },
  { title: "Invitation" },
)

const CREATE = `Invites a person by email to this site. A person who accepts becomes a guest of the organization, with this role on this site only. The invitation
is valid for 7 days, and replaces an earlier one to the same address. If the instance sends no email, the response has the link for the person.

A member of the organization gets a role with \`PUT …/members/{user_id}\` instead: \`already_member\` has the id of the user in \`existing_id\`.
A key invites only to roles whose rights it has itself, and its creator must be allowed to invite members.`

const operation = (operationId: string, summary: string) => ({ operationId, summary, tags: ["members"] })

/** Creates the routes for invitations to a site. A key sees those whose sites it all reaches. */
export function siteInvitationRoutes(
  auth: ApiKeyAuth,
  create: ReturnType<typeof creation>,
  { invitations, audit, now }: SiteInvitationRoutesOptions,
) {
  const show = (invitation: SentInvitation) => toInvitation(invitation, now())
  const isListed = ({ role, site_ids }: SentInvitation, site: Site, key: ApiKey): boolean =>
    role === "guest" &&
    site_ids.includes(site.id) &&
    site_ids.every((id) => reachesSite(key, { id, organization_id: site.organization_id }))
  async function find(site: Site, id: string | undefined, key: ApiKey): Promise<SentInvitation> {
    const invitation = await invitations.get(site.organization_id, id)
    if (!isListed(invitation, site, key)) throw invitationNotFound()
    return invitation
  }
  const named = { finds: (site: Site, { params }: Call, key: ApiKey) => find(site, params.id, key) }

  return new Elysia({ prefix: "/api/public/v1/sites/:site_id/invitations" })
    .use(auth)
    .get(
      "",
      async ({ site, apiKey, query }) => {
        const name = `invitations/${site.id}`
        const listed = (await invitations.list(site.organization_id)).filter((invitation) => isListed(invitation, site, apiKey))
        const page = await pageOf(name, parseListing(name, query), async ({ after, limit }) =>
          listed.filter(({ id }) => id > after).slice(0, limit),
        )
        return { ...page, data: page.data.map(show) }
      },
      {
        siteScope: "members:read",
        query: t.Object(ListQuery, { additionalProperties: true }),
        response: { 200: Listed(Invitation) },
        detail: describeRoute({
          ...operation("listInvitations", "List the pending invitations to a site"),
          description: "Lists invitations that are neither accepted nor withdrawn, including expired ones.",
        }),
      },
    )
    .post(
      "",
      ({ site, actor, ...call }) =>
        create<SentInvitation, Static<typeof Invitation>>(
          call,
          (body, storeResponse) =>
            invitations.createForSite(site, body, call.apiKey, {
              alongside: recorded(audit, actor, invitationEntry("create")),
              ...(storeResponse && { storeResponse }),
            }),
          (invitation) => ({ location: `/api/public/v1/sites/${site.id}/invitations/${invitation.id}`, body: show(invitation) }),
        ),
      {
        siteScope: writes(["members:write"]),
        query: NoQuery,
        body: Sent,
        response: { 201: Invitation },
        detail: describeRoute({
          ...operation("createInvitation", "Invite a person to a site"),
          description: CREATE,
          "x-failures": ["forbidden", "already_member"],
          "x-unversioned": true,
          ...takes(SiteInvitationInput),
        }),
      },
    )
    .get("/:id", async ({ site, apiKey, params }) => show(await find(site, params.id, apiKey)), {
      siteScope: { scopes: ["members:read"], ...named },
      query: NoQuery,
      response: { 200: Invitation },
      detail: describeRoute(operation("getInvitation", "Get a pending invitation to a site")),
    })
    .delete(
      "/:id",
      async ({ site, params, actor, status }) => {
        await invitations.remove(site.organization_id, params.id, recorded(audit, actor, invitationEntry("delete")))
        return status(204, undefined)
      },
      {
        siteScope: { scopes: ["members:write"], ...named, read: readNothing },
        query: NoQuery,
        detail: describeRoute({
          ...operation("deleteInvitation", "Withdraw an invitation to a site"),
          description: "Its link stops working at once.",
          "x-unversioned": true,
        }),
      },
    )
}

const toInvitation = (invitation: SentInvitation, now: number): Static<typeof Invitation> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.site_role,
  site_ids: [...invitation.site_ids],
  created_at: instantText(invitation.created_at),
  expires_at: instantText(invitation.expires_at),
  sent_at: instantOrNull(invitation.sent_at),
  state: isExpired(invitation, now) ? "expired" : "open",
  ...(invitation.link !== undefined && { link: invitation.link }),
})
