import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { type ApiKey, SCOPES } from "../../domain/key.ts"
import { instantText } from "../../domain/moment.ts"
import type { Organizations } from "../../services/organizations.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { told } from "../openapi/route.ts"
import { NoQuery } from "./things.ts"

const KeyShown = t.Object(
  {
    id: t.Integer(),
    name: t.String(),
    prefix: t.String({ description: "How people tell keys apart" }),
    organization: t.Object({ id: t.Integer(), name: t.String() }),
    scopes: t.Array(t.String(), { description: "As granted, without those they imply" }),
    unrestricted: t.Boolean({ description: "Reaches all sites of the organization, future ones too" }),
    site_ids: t.Optional(t.Array(t.Integer(), { description: "Of a limited key" })),
    created_at: t.String({ format: "date-time" }),
    expires_at: t.Optional(t.String({ format: "date-time" })),
    last_used_at: t.Optional(t.String({ format: "date-time" })),
    rate_limit: t.Optional(t.Object({ limit: t.Integer(), window_seconds: t.Integer() })),
  },
  { title: "Key" },
)

interface KeyRoutesOptions {
  organizations: Pick<Organizations, "get">
  /** Requests per minute of keys without a rate of their own; 0 = no limit. */
  apiRateLimit: number
}

/** The key in use, without its secret. */
export const keyRoutes = (auth: ApiKeyAuth, { organizations, apiRateLimit }: KeyRoutesOptions) =>
  new Elysia({ prefix: "/api/public/v1/key" }).use(auth).get(
    "",
    async ({ apiKey }) => {
      const organization = await organizations.get(apiKey.organization_id)
      // A key cannot be without the organization it refers to.
      return shownKey(apiKey, { id: organization!.id, name: organization!.name }, apiKey.rate_limit ?? apiRateLimit)
    },
    {
      scope: { scopes: SCOPES },
      query: NoQuery,
      response: { 200: KeyShown },
      detail: told({ operationId: "getKey", summary: "Read the key in use", tags: ["key"] }),
    },
  )

function shownKey(key: ApiKey, organization: { id: number; name: string }, limit: number): Static<typeof KeyShown> {
  const { id, name, prefix, scopes, site_ids, created_at, expires_at, last_used_at } = key
  return {
    id,
    name,
    prefix,
    organization,
    scopes: [...scopes],
    unrestricted: site_ids === null,
    ...(site_ids && { site_ids: [...site_ids] }),
    created_at: instantText(created_at),
    ...(expires_at !== null && { expires_at: instantText(expires_at) }),
    ...(last_used_at !== null && { last_used_at: instantText(last_used_at) }),
    ...(limit > 0 && { rate_limit: { limit, window_seconds: 60 } }),
  }
}
