import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { type ApiKey, SCOPES } from "../../domain/key.ts"
import { instantText } from "../../domain/moment.ts"
import { CREATED_AT, field } from "../../domain/response.ts"
import type { Organizations } from "../../services/organizations/organizations.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import { NoQuery } from "./requests.ts"

const KeyResponse = t.Object(
  {
    id: field.integer("Id of the key."),
    name: field.text("Display name of the key."),
    prefix: t.String({ description: "Visible beginning of the key, for recognizing it." }),
    organization: t.Object(
      { id: field.integer("Id of the organization."), name: field.text("Display name of the organization.") },
      { description: "Organization that owns the key." },
    ),
    scopes: t.Array(t.String(), { description: "Granted scopes, without the scopes that they imply." }),
    unrestricted: t.Boolean({ description: "Whether the key has access to all current and future sites of the organization." }),
    site_ids: t.Optional(t.Array(t.Integer(), { description: "Ids of the sites of a limited key." })),
    created_at: CREATED_AT,
    expires_at: t.Optional(t.String({ format: "date-time", description: "Expiry time. Absent if the key never expires." })),
    last_used_at: t.Optional(t.String({ format: "date-time", description: "Time of the latest request. Absent before the first." })),
    rate_limit: t.Optional(
      t.Object(
        {
          limit: t.Integer({ description: "Maximum number of requests per window." }),
          window_seconds: t.Integer({ description: "Length of the window in seconds." }),
        },
        { description: "Rate limit of the key. Absent without a limit." },
      ),
    ),
  },
  { title: "Key" },
)

interface KeyRoutesOptions {
  organizations: Pick<Organizations, "get">
  /** Default number of requests per minute and key. 0 disables the limit. */
  apiRateLimit: number
}

/** Creates the route that returns the API key of the request, without its secret. */
export const keyRoutes = (auth: ApiKeyAuth, { organizations, apiRateLimit }: KeyRoutesOptions) =>
  new Elysia({ prefix: "/api/public/v1/key" }).use(auth).get(
    "",
    async ({ apiKey }) => {
      const organization = await organizations.get(apiKey.organization_id)
      // Every key belongs to an existing organization.
      return toKeyResponse(apiKey, { id: organization!.id, name: organization!.name }, apiKey.rate_limit ?? apiRateLimit)
    },
    {
      scope: { scopes: SCOPES },
      query: NoQuery,
      response: { 200: KeyResponse },
      detail: describeRoute({ operationId: "getKey", summary: "Get the API key of the request", tags: ["key"] }),
    },
  )

function toKeyResponse(key: ApiKey, organization: { id: number; name: string }, limit: number): Static<typeof KeyResponse> {
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
