import { Elysia } from "elysia"
import type { Actor } from "../../../domain/audit.ts"
import { instantText } from "../../../domain/moment.ts"
import { ProviderInput, ProviderResponse, ProviderTest } from "../../../domain/provider-input.ts"
import { Listed } from "../../../domain/response.ts"
import { etagOf } from "../../../domain/version.ts"
import type { Access } from "../../../services/access/access.ts"
import type { Audit } from "../../../services/audit/audit.ts"
import { pageOfAll, readPlainPaging } from "../../../services/lists/paging.ts"
import { type OrganizationProviders, type OwnProvider, providerRecorded } from "../../../services/oidc/organization-providers.ts"
import type { Person } from "../../../services/sign-in/sessions.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/requests.ts"
import { expectedVersions, NoQuery, Sent, takes, takesSome } from "../../public/requests.ts"
import { ListQuery, refuses, withETag } from "../responses.ts"

export interface ProviderRoutesOptions {
  organizationProviders: OrganizationProviders
  access: Access
  audit: Audit
}

const operation = (summary: string) => ({ summary, tags: ["organizations"] })
const ORG_WRITE = "org:write"
const WRITES = { permission: ORG_WRITE, sudo: true, personal: true }
const writerOf = ({ user, session }: { user: { id: number }; session: { id: number } }) => ({ userId: user.id, sessionId: session.id })

/** Creates the routes for the identity providers of an organization. */
export function providerRoutes(router: PrivateRouter, create: ReturnType<typeof creation>, options: ProviderRoutesOptions) {
  const { organizationProviders: providers, access, audit } = options
  /** Options of a write: the audit entry, and a check that the caller can still sign in afterwards. */
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
        // Ids are text, so the list is sorted by time. No two providers of an organization have the same time.
        const rows = (await providers.list(organization.id)).map((provider) => ({ id: provider.created_at, provider }))
        const page = await pageOfAll(paging, rows)
        return { ...page, data: page.data.map(({ provider }) => toProviderResponse(provider)) }
      },
      {
        canOrganization: ORG_WRITE,
        query: ListQuery,
        response: { 200: Listed(ProviderResponse) },
        detail: operation("List identity providers"),
      },
    )
    .post(
      "",
      ({ organization, user, session, actor, ...call }) =>
        create<OwnProvider, ProviderResponse>(
          { ...call, user },
          (body, storeResponse) => {
            const alongside = recording({ actor, organization, user, session }, "create")
            return providers.create(organization, body, writerOf({ user, session }), { alongside, ...(storeResponse && { storeResponse }) })
          },
          (provider) => ({
            location: `/api/private/organizations/${organization.id}/providers/${provider.id}`,
            etag: etagOf(provider),
            body: toProviderResponse(provider),
          }),
        ),
      {
        canOrganization: WRITES,
        query: NoQuery,
        body: Sent,
        response: { 201: ProviderResponse },
        detail: { ...operation("Add an identity provider"), ...refuses("forbidden", "provider_required"), ...takes(ProviderInput) },
      },
    )
    .get(
      "/:id",
      async ({ organization, params, set }) => {
        const provider = await providers.get(organization.id, params.id)
        return withETag(set, provider, toProviderResponse(provider))
      },
      { canOrganization: ORG_WRITE, query: NoQuery, response: { 200: ProviderResponse }, detail: operation("Get an identity provider") },
    )
    .patch(
      "/:id",
      async ({ organization, user, session, params, actor, body, request, set }) => {
        const provider = await providers.update(organization, params.id, body.value, writerOf({ user, session }), {
          expected: expectedVersions(request),
          alongside: recording({ actor, organization, user, session }, "update"),
          current: toProviderResponse,
        })
        return withETag(set, provider, toProviderResponse(provider))
      },
      {
        canOrganization: { ...WRITES, find },
        query: NoQuery,
        body: Sent,
        response: { 200: ProviderResponse },
        detail: { ...operation("Update an identity provider"), ...refuses("forbidden", "provider_required"), ...takesSome(ProviderInput) },
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
        canOrganization: { ...WRITES, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Remove an identity provider"), ...refuses("provider_required", "precondition_failed") },
      },
    )
    .post("/:id/test", async ({ organization, params }) => providers.test(organization.id, params.id), {
      canOrganization: { permission: ORG_WRITE, reads: true, find, read: readNothing },
      query: NoQuery,
      response: { 200: ProviderTest },
      detail: operation("Test the configuration of an identity provider"),
    })
}

const toProviderResponse = ({ created_at, updated_at, role_map, allowed_domains, ...provider }: OwnProvider): ProviderResponse => ({
  ...provider,
  allowed_domains: [...allowed_domains],
  role_map,
  created_at: instantText(created_at),
  updated_at: instantText(updated_at),
})
