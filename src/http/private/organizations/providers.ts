import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Actor } from "../../domain/audit.ts"
import { instantText } from "../../domain/moment.ts"
import { ProviderInput } from "../../domain/provider-input.ts"
import { etagOf } from "../../domain/version.ts"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Access } from "../../services/access.ts"
import type { Audit } from "../../services/audit.ts"
import type { OrganizationProviders, OwnProvider } from "../../services/organization-providers.ts"
import { pageOfAll, readPlainPaging } from "../../services/paging.ts"
import { providerRecorded } from "../../services/provider-deeds.ts"
import type { Person } from "../../services/sessions.ts"
import { expectedVersions } from "../public/conditions.ts"
import type { creation } from "../public/creation.ts"
import { NoQuery, Sent, takes, takesSome } from "../public/things.ts"
import { Instant, Listed, ListQuery, refuses, tagged } from "./tagged.ts"

export interface ProviderRoutesOptions {
  organizationProviders: OrganizationProviders
  access: Access
  audit: Audit
}

const { name, issuer, client_id } = ProviderInput.properties
const ProviderShown = t.Object(
  {
    id: t.String({ description: "Part of the address that the provider sends browsers back to" }),
    name,
    issuer,
    client_id,
    client_secret: t.Object({ set: t.Boolean(), hint: t.Optional(t.String()), updated_at: t.Optional(Instant) }),
    scopes: t.String(),
    allowed_domains: t.Array(t.String()),
    jit: t.Boolean(),
    role_map: t.Record(t.String(), t.Object({ role: t.String(), site_ids: t.Optional(t.Array(t.Integer())) })),
    sso_only: t.Boolean(),
    enabled: t.Boolean(),
    redirect_uri: t.String({ description: "What the provider must know as the address to send browsers back to" }),
    identities: t.Integer({ minimum: 0, description: "Users that it knows" }),
    created_at: Instant,
    updated_at: Instant,
    version: t.Integer(),
  },
  { title: "Provider" },
)
type ProviderShown = Static<typeof ProviderShown>

const LookShown = t.Object(
  {
    ok: t.Boolean(),
    steps: t.Array(t.Object({ name: t.String(), ok: t.Boolean(), detail: t.String(), ms: t.Number() })),
    claims: t.Array(t.Object({ name: t.String(), needed: t.Boolean(), offered: t.Union([t.Boolean(), t.Null()]) })),
  },
  { title: "ProviderTest" },
)

const says = (summary: string) => ({ summary, tags: ["organizations"] })
const ORG_WRITE = "org:write"
const WRITES = { permission: ORG_WRITE, sudo: true, personal: true }
const writerOf = ({ user, session }: { user: { id: number }; session: { id: number } }) => ({ userId: user.id, sessionId: session.id })

/** Identity providers by which members of an organization sign in. */
export function providerRoutes(router: PrivateRouter, create: ReturnType<typeof creation>, options: ProviderRoutesOptions) {
  const { organizationProviders: providers, access, audit } = options
  /** With a write: it is recorded, and leaves whoever makes it a member who is let in. */
  function recording(
    { actor, organization, ...person }: Person & { actor: Actor; organization: { id: number } },
    verb: "create" | "update",
  ) {
    const record = providerRecorded(audit, actor, verb)
    const alongside: typeof record = async (statements, change) => {
      await access.refuseOwnLockOut(person, organization.id, statements)
      await record(statements, change)
    }
    return alongside
  }
  const find = (params: { id?: string | undefined }, { organization }: { organization?: { id: number } }) =>
    providers.get(organization!.id, params.id) // routes below an organization have it
  return new Elysia({ prefix: "/api/private/organizations/:organization/providers" })
    .use(router)
    .get(
      "",
      async ({ organization, query }) => {
        const paging = readPlainPaging(`providers/${organization.id}`, query)
        // Ids are words; no two of an organization are of the same moment.
        const rows = (await providers.list(organization.id)).map((provider) => ({ id: provider.created_at, provider }))
        const page = await pageOfAll(paging, rows)
        return { ...page, data: page.data.map(({ provider }) => shownProvider(provider)) }
      },
      { canOrganization: ORG_WRITE, query: ListQuery, response: { 200: Listed(ProviderShown) }, detail: says("List identity providers") },
    )
    .post(
      "",
      ({ organization, user, session, actor, ...call }) =>
        create<OwnProvider, ProviderShown>(
          { ...call, user },
          (body, told) => {
            const alongside = recording({ actor, organization, user, session }, "create")
            return providers.create(organization, body, writerOf({ user, session }), { alongside, ...(told && { told }) })
          },
          (provider) => ({
            location: `/api/private/organizations/${organization.id}/providers/${provider.id}`,
            etag: etagOf(provider),
            body: shownProvider(provider),
          }),
        ),
      {
        canOrganization: WRITES,
        query: NoQuery,
        body: Sent,
        response: { 201: ProviderShown },
        detail: { ...says("Enter an identity provider"), ...refuses("forbidden", "provider_required"), ...takes(ProviderInput) },
      },
    )
    .get(
      "/:id",
      async ({ organization, params, set }) => {
        const provider = await providers.get(organization.id, params.id)
        return tagged(set, provider, shownProvider(provider))
      },
      { canOrganization: ORG_WRITE, query: NoQuery, response: { 200: ProviderShown }, detail: says("Read an identity provider") },
    )
    .patch(
      "/:id",
      async ({ organization, user, session, params, actor, body, request, set }) => {
        const provider = await providers.update(organization, params.id, body.value, writerOf({ user, session }), {
          expected: expectedVersions(request),
          alongside: recording({ actor, organization, user, session }, "update"),
          current: shownProvider,
        })
        return tagged(set, provider, shownProvider(provider))
      },
      {
        canOrganization: { ...WRITES, find },
        query: NoQuery,
        body: Sent,
        response: { 200: ProviderShown },
        detail: { ...says("Change an identity provider"), ...refuses("forbidden", "provider_required"), ...takesSome(ProviderInput) },
      },
    )
    .delete(
      "/:id",
      async ({ organization, user, session, params, actor, request, status }) => {
        await providers.remove(organization, params.id, writerOf({ user, session }), {
          expected: expectedVersions(request),
          alongside: providerRecorded(audit, actor, "delete"),
        })
        return status(204, undefined)
      },
      {
        canOrganization: { ...WRITES, read: leaveUnread },
        query: NoQuery,
        detail: { ...says("Take an identity provider away"), ...refuses("provider_required", "precondition_failed") },
      },
    )
    .post("/:id/test", async ({ organization, params }) => providers.test(organization.id, params.id), {
      canOrganization: { permission: ORG_WRITE, reads: true, find, read: leaveUnread },
      query: NoQuery,
      response: { 200: LookShown },
      detail: says("Ask an identity provider for what signing in by it takes"),
    })
}

const shownProvider = ({ created_at, updated_at, role_map, allowed_domains, ...provider }: OwnProvider): ProviderShown => ({
  ...provider,
  allowed_domains: [...allowed_domains],
  role_map,
  created_at: instantText(created_at),
  updated_at: instantText(updated_at),
})
