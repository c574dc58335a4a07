import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import {
  type ApiKey,
  impliedBy,
  KEY_STATES,
  KeyResponse,
  RotationInput,
  reachesSite,
  SCOPE_TITLES,
  SCOPES,
  SecretResponse,
  UsageResponse,
} from "../../../domain/key.ts"
import { KeyInput, KeyPatch, SiteKeyInput } from "../../../domain/key-input.ts"
import { API } from "../../../domain/limits.ts"
import { instantText } from "../../../domain/moment.ts"
import type { Organization } from "../../../domain/organization.ts"
import { Listed } from "../../../domain/response.ts"
import { etagOf } from "../../../domain/version.ts"
import type { Keys, ListedKey, NewSecret } from "../../../services/api-keys/api-keys.ts"
import type { KeyUsage } from "../../../services/api-keys/key-usage.ts"
import { type Audit, keyEntry, recorded } from "../../../services/audit/audit.ts"
import { type Paging, pageOfAll, readPaging } from "../../../services/lists/paging.ts"
import { readNothing, readOptionalJson } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { type creation, expectedVersions, NoQuery, Sent, takes } from "../../public/requests.ts"
import { ListQuery, refuses, withETag } from "../responses.ts"

export interface ApiKeyRoutesOptions {
  keys: Keys
  keyUsage: KeyUsage
  audit: Audit
}

export const operation = (summary: string) => ({ summary, tags: ["api-keys"] })

export const CAN_WRITE_KEYS = { permission: "keys:write", personal: true }

const ScopesResponse = t.Object({
  data: t.Array(
    t.Object({
      scope: t.String({ description: "Name of the scope." }),
      title: t.String({ description: "What a key with the scope can do." }),
      implies: t.Array(t.String(), { description: "Scopes that are included." }),
    }),
    { description: "All scopes." },
  ),
})

/** Creates the route that lists all scopes. */
export const scopeRoutes = (router: PrivateRouter) =>
  new Elysia({ prefix: "/api/private/api-scopes" })
    .use(router)
    .get("", () => ({ data: SCOPES.map((scope) => ({ scope, title: SCOPE_TITLES[scope], implies: [...impliedBy(scope)] })) }), {
      signedIn: true,
      query: NoQuery,
      response: { 200: ScopesResponse },
      detail: operation("List scopes of API keys"),
    })

/** Creates the routes for the API keys of an organization. */
export function apiKeyRoutes(router: PrivateRouter, create: ReturnType<typeof creation>, { keys, keyUsage, audit }: ApiKeyRoutesOptions) {
  const show = async (key: ApiKey): Promise<KeyResponse> => toKeyResponse((await keys.listed(key.organization_id, [key]))[0]!)
  const find = ({ id }: Record<string, string | undefined>, { organization }: { organization?: Organization }) =>
    keys.get(organization!.id, id) // routes below an organization have one

  return new Elysia({ prefix: "/api/private/organizations/:organization/api-keys" })
    .use(router)
    .get(
      "",
      async ({ organization, query }) => {
        const paging = readKeyPaging(`api-keys/${organization.id}`, query)
        return pageOfKeys(keys, organization.id, paging, await keys.list(organization.id, paging.filters.state))
      },
      { canOrganization: "keys:write", query: ListQuery, response: { 200: Listed(KeyResponse) }, detail: operation("List API keys") },
    )
    .post(
      "",
      ({ organization, user, actor, ...call }) =>
        create<NewSecret, SecretResponse>(
          { ...call, user },
          (body, storeResponse) =>
            keys.create(organization.id, body, {
              by: user.id,
              alongside: recorded(audit, actor, keyEntry("create")),
              ...(storeResponse && { storeResponse }),
            }),
          (made) => newKey(made, user),
        ),
      {
        canOrganization: { ...CAN_WRITE_KEYS, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 201: SecretResponse },
        detail: { ...operation("Create an API key"), ...takes(KeyInput) },
      },
    )
    .get(
      "/:id",
      async ({ organization, params, set }) => {
        const key = await keys.get(organization.id, params.id)
        return withETag(set, key, await show(key))
      },
      { canOrganization: "keys:write", query: NoQuery, response: { 200: KeyResponse }, detail: operation("Get an API key") },
    )
    .patch(
      "/:id",
      async ({ organization, user, params, actor, body, request, set }) => {
        const [before] = await keys.listed(organization.id, [await keys.get(organization.id, params.id)])
        const key = await keys.update(organization.id, params.id, body.value, {
          by: user.id,
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, keyEntry("update")),
          current: (now) => toKeyResponse({ ...before!, ...now }),
        })
        return withETag(set, key, toKeyResponse({ ...before!, ...key }))
      },
      {
        canOrganization: { ...CAN_WRITE_KEYS, find },
        query: NoQuery,
        body: Sent,
        response: { 200: KeyResponse },
        detail: { ...operation("Update an API key"), ...refuses("invalid_state"), ...takes(KeyPatch) },
      },
    )
    .delete(
      "/:id",
      async ({ organization, user, params, actor, request, status }) => {
        const terms = { by: user.id, expected: expectedVersions(request), alongside: recorded(audit, actor, keyEntry("revoke")) }
        await keys.revoke(organization.id, params.id, terms)
        return status(204, undefined)
      },
      {
        canOrganization: { ...CAN_WRITE_KEYS, find, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Revoke an API key"), ...refuses("invalid_state", "precondition_failed") },
      },
    )
    .post(
      "/:id/rotate",
      async ({ organization, user, params, actor, ...call }) => {
        const [before] = await keys.listed(organization.id, [await keys.get(organization.id, params.id)])
        return create<NewSecret, SecretResponse>(
          { ...call, user },
          (body, storeResponse) =>
            keys.rotate(organization.id, params.id, body, {
              by: user.id,
              expected: expectedVersions(call.request),
              alongside: recorded(audit, actor, keyEntry("rotate")),
              ...(storeResponse && { storeResponse }),
            }),
          ({ key, secret }) => ({ status: 200, etag: etagOf(key), body: { ...toKeyResponse({ ...before!, ...key }), key: secret } }),
        )
      },
      {
        canOrganization: { ...CAN_WRITE_KEYS, sudo: true, find, read: readOptionalJson(API.privateBodyBytes) },
        query: NoQuery,
        body: Sent,
        response: { 200: SecretResponse },
        detail: {
          ...operation("Rotate the secret of an API key"),
          ...refuses("invalid_state", "precondition_failed", "limit_reached"),
          ...takes(RotationInput, { required: false }),
        },
      },
    )
    .get("/:id/usage", async ({ organization, params, query }) => keyUsage.list((await keys.get(organization.id, params.id)).id, query), {
      canOrganization: "keys:write",
      query: ListQuery,
      response: { 200: UsageResponse },
      detail: operation("Get the requests of an API key by day, route and status"),
    })
}

interface SiteApiKeyRoutesOptions {
  keys: Keys
  audit: Audit
}

/** Creates the routes for the API keys with access to a site. */
export const siteApiKeyRoutes = (router: PrivateRouter, create: ReturnType<typeof creation>, { keys, audit }: SiteApiKeyRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/api-keys" })
    .use(router)
    .get(
      "",
      async ({ site, query }) => {
        const paging = readKeyPaging(`site-api-keys/${site.id}`, query)
        const reaching = (await keys.list(site.organization_id, paging.filters.state)).filter((key) => reachesSite(key, site))
        return pageOfKeys(keys, site.organization_id, paging, reaching)
      },
      { can: "keys:write", query: ListQuery, response: { 200: Listed(KeyResponse) }, detail: operation("List API keys of a site") },
    )
    .post(
      "",
      ({ site, user, actor, ...call }) =>
        create<NewSecret, SecretResponse>(
          { ...call, user },
          (body, storeResponse) =>
            keys.create(site.organization_id, body, {
              by: user.id,
              site: site.id,
              alongside: recorded(audit, actor, keyEntry("create")),
              ...(storeResponse && { storeResponse }),
            }),
          (made) => newKey(made, user),
        ),
      {
        can: { ...CAN_WRITE_KEYS, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 201: SecretResponse },
        detail: { ...operation("Create an API key for a site"), ...takes(SiteKeyInput) },
      },
    )

/** Parses the query of a list of keys, optionally limited to a state. Throws `invalid_query` or `invalid_cursor`. */
export const readKeyPaging = (list: string, query: Record<string, unknown>) =>
  readPaging(list, query, ["state"], (reader) => ({ state: reader.choice("state", KEY_STATES) }))

/** Returns a page of keys with their creators. */
export async function pageOfKeys(keys: Keys, organizationId: number, paging: Paging<unknown>, all: readonly ApiKey[]) {
  const page = await pageOfAll(paging, all)
  return { ...page, data: (await keys.listed(organizationId, page.data)).map(toKeyResponse) }
}

/** Converts a key that the caller has just created, with its secret. */
export function newKey({ key, secret }: NewSecret, { id, name, email }: { id: number; name: string; email: string }) {
  const shown = toKeyResponse({ ...key, state: "active", creator: { user_id: id, name, email }, owner_left: false })
  return {
    location: `/api/private/organizations/${key.organization_id}/api-keys/${key.id}`,
    etag: etagOf(key),
    body: { ...shown, key: secret },
  }
}

export const toKeyResponse = (key: ListedKey): KeyResponse => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last4: key.last4,
  scopes: [...key.scopes],
  site_access: key.site_ids === null ? "all" : "list",
  site_ids: key.site_ids && [...key.site_ids],
  ip_allow: [...key.ip_allow],
  rate_limit: key.rate_limit,
  personal: key.owner_user_id !== null,
  created_by: key.creator && { id: key.creator.user_id, name: key.creator.name, email: key.creator.email },
  created_at: instantText(key.created_at),
  expires_at: textOrNull(key.expires_at),
  last_used_at: textOrNull(key.last_used_at),
  last_used_ip_prefix: key.last_used_ip_prefix,
  last_used_agent: key.last_used_agent,
  revoked_at: textOrNull(key.revoked_at),
  state: key.state,
  owner_left: key.owner_left,
  version: key.version,
})

const textOrNull = (at: number | null): string | null => (at === null ? null : instantText(at))
