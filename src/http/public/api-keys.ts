import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { type ApiKey, KeyResponse, keyNotFound, keyState, RotationInput, reachesSite, SecretResponse } from "../../domain/key.ts"
import { overseesKey } from "../../domain/key-bounds.ts"
import { MadeKeyInput } from "../../domain/key-input.ts"
import { instantOrNull, instantText } from "../../domain/moment.ts"
import type { Site } from "../../domain/site.ts"
import { etagOf } from "../../domain/version.ts"
import type { Keys, NewSecret } from "../../services/api-keys/api-keys.ts"
import { type Audit, keyEntry, recorded } from "../../services/audit/audit.ts"
import { pageOf, parseListing } from "../../services/definitions/listing.ts"
import { readNothing } from "../../web/body.ts"
import type { Call } from "../../web/guard.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import { type creation, expectedVersions, Listed, ListQuery, NoQuery, Sent, takes, writes } from "./requests.ts"

export interface SiteKeyRoutesOptions {
  keys: Keys
  audit: Audit
  /** Requests per minute of keys without a limit of their own; 0 = no limit. */
  apiRateLimit: number
  now(): number
}

const NAMES = ["id", "name", "prefix", "last4", "scopes", "ip_allow", "rate_limit"] as const
const TIMES = ["created_at", "expires_at", "last_used_at", "revoked_at", "state"] as const
const Key = t.Object(
  {
    ...t.Pick(KeyResponse, NAMES).properties,
    site_ids: t.Array(t.Integer(), { description: "Ids of the sites of the key." }),
    ...t.Pick(KeyResponse, TIMES).properties,
  },
  { title: "ApiKey" },
)
const NewKey = t.Object({ ...Key.properties, key: SecretResponse.properties.key }, { title: "NewApiKey" })

const CREATE = `Creates a key for this site and returns its secret, which is never returned again. The key has at most the rights of the key that
creates it: scopes, IP ranges, rate limit and expiry. Fields that the body does not have are those of the creating key. Both keys are limited
by the permissions of the same user.`
const LIST = "Lists keys that are limited to sites, if the key of the request has access to all of these sites."

/** Creates the routes for API keys that are limited to sites. Keys for all sites of an organization are managed in the dashboard. */
export function siteKeyRoutes(
  auth: ApiKeyAuth,
  create: ReturnType<typeof creation>,
  { keys, audit, apiRateLimit, now }: SiteKeyRoutesOptions,
) {
  const show = (key: ApiKey) => toKey(key, now())
  const isListed = (key: ApiKey, site: Site, maker: ApiKey) => reachesSite(key, site) && overseesKey(maker, key)
  async function find(site: Site, id: string | undefined, maker: ApiKey): Promise<ApiKey> {
    const key = await keys.get(site.organization_id, id)
    if (!isListed(key, site, maker)) throw keyNotFound()
    return key
  }
  const makerOf = (key: ApiKey) => ({ key, usualRate: apiRateLimit })
  const named = { finds: (site: Site, { params }: Call, maker: ApiKey) => find(site, params.id, maker) }
  const operation = (operationId: string, summary: string) => ({ operationId, summary, tags: ["api-keys"] })

  return new Elysia({ prefix: "/api/public/v1/sites/:site_id/api-keys" })
    .use(auth)
    .get(
      "",
      async ({ site, apiKey, query }) => {
        const name = `api-keys/${site.id}`
        const listed = (await keys.list(site.organization_id)).filter((key) => isListed(key, site, apiKey))
        const page = await pageOf(name, parseListing(name, query), async ({ after, limit }) =>
          listed.filter(({ id }) => id > after).slice(0, limit),
        )
        return { ...page, data: page.data.map(show) }
      },
      {
        siteScope: "keys:read",
        query: t.Object(ListQuery, { additionalProperties: true }),
        response: { 200: Listed(Key) },
        detail: describeRoute({ ...operation("listApiKeys", "List the API keys of a site"), description: LIST }),
      },
    )
    .post(
      "",
      ({ site, actor, ...call }) =>
        create<NewSecret, Static<typeof NewKey>>(
          call,
          (body, storeResponse) =>
            keys.create(site.organization_id, body, {
              ...{ maker: makerOf(call.apiKey), site: site.id, alongside: recorded(audit, actor, keyEntry("create")) },
              ...(storeResponse && { storeResponse }),
            }),
          ({ key, secret }) => ({
            location: `/api/public/v1/sites/${site.id}/api-keys/${key.id}`,
            etag: etagOf(key),
            body: { ...show(key), key: secret },
          }),
        ),
      {
        siteScope: writes(["keys:write"]),
        query: NoQuery,
        body: Sent,
        response: { 201: NewKey },
        detail: describeRoute({
          ...operation("createApiKey", "Create an API key for a site"),
          description: CREATE,
          ...takes(MadeKeyInput),
        }),
      },
    )
    .get(
      "/:id",
      async ({ site, apiKey, params, set }) => {
        const key = await find(site, params.id, apiKey)
        set.headers.etag = etagOf(key)
        return show(key)
      },
      {
        siteScope: { scopes: ["keys:read"], ...named },
        query: NoQuery,
        response: { 200: Key },
        detail: describeRoute(operation("getApiKey", "Get an API key of a site")),
      },
    )
    .post(
      "/:id/rotate",
      async ({ site, apiKey, params, body, request, actor, set }) => {
        const { key, secret } = await keys.rotate(site.organization_id, params.id, body.value, {
          ...{ maker: makerOf(apiKey), expected: expectedVersions(request), alongside: recorded(audit, actor, keyEntry("rotate")) },
        })
        set.headers.etag = etagOf(key)
        return { ...show(key), key: secret }
      },
      {
        siteScope: { ...writes(["keys:write"]), ...named },
        query: NoQuery,
        body: Sent,
        response: { 200: NewKey },
        detail: describeRoute({
          ...operation("rotateApiKey", "Rotate the secret of an API key"),
          description:
            "Returns a new secret, which is never returned again. A key with more rights than that of the request is `forbidden`.",
          "x-failures": ["forbidden", "invalid_state", "precondition_failed"],
          ...takes(RotationInput),
        }),
      },
    )
    .delete(
      "/:id",
      async ({ site, params, request, actor, status }) => {
        const terms = { expected: expectedVersions(request), alongside: recorded(audit, actor, keyEntry("revoke")) }
        await keys.revoke(site.organization_id, params.id, terms)
        return status(204, undefined)
      },
      {
        siteScope: { scopes: ["keys:write"], ...named, read: readNothing },
        query: NoQuery,
        detail: describeRoute({ ...operation("deleteApiKey", "Revoke an API key"), description: "The key stops working at once." }),
      },
    )
}

const toKey = (key: ApiKey, now: number): Static<typeof Key> => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last4: key.last4,
  scopes: [...key.scopes],
  ip_allow: [...key.ip_allow],
  rate_limit: key.rate_limit,
  site_ids: [...(key.site_ids ?? [])],
  created_at: instantText(key.created_at),
  expires_at: instantOrNull(key.expires_at),
  last_used_at: instantOrNull(key.last_used_at),
  revoked_at: instantOrNull(key.revoked_at),
  state: keyState(key, now),
})
