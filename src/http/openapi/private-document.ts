import { type TSchema, Type as t } from "@sinclair/typebox"
import { API } from "../../domain/limits.ts"
import { MAX_CURSOR_CHARS } from "../../services/lists/paging.ts"
import { documentOf, type OpenApiDocument } from "./document.ts"
import { privateFailuresOf } from "./private-failures.ts"
import { type DescribedRoute, placeOf, type RunningRoute, schemasOf } from "./route.ts"

/**
 * Creates the OpenAPI 3.1 document of the private API, including the routes of plugins. Parameters, responses and errors follow
 * from the schemas, the permission and the gate of each route.
 */
export function privateDocument(
  running: readonly RunningRoute[],
  { baseUrl, cookie }: { baseUrl: string; cookie: string },
): OpenApiDocument {
  const routes = describedPrivateRoutes(running)
  const tags = [...new Set(routes.flatMap(({ detail }) => detail.tags ?? []))]
  return documentOf(routes, {
    baseUrl,
    title: "Footfall private API",
    about: ABOUT,
    tags: tags.map((tag) => [tag, TAGS[tag] ?? `Operations of the feature ${tag}.`]),
    securitySchemes: {
      session: { type: "apiKey", in: "cookie", name: cookie, description: "Signed session cookie, set by signing in." },
    },
  })
}

/** Returns the routes below `/api/private`. Throws if one has no summary, permission or gate. */
const describedPrivateRoutes = (routes: readonly RunningRoute[]): DescribedRoute[] =>
  routes.filter(({ path }) => path.startsWith("/api/private/")).map(described)

/** Throws if a private route cannot be documented. Runs at every start and is cheaper than creating the document. */
export function refuseUndescribed(routes: readonly RunningRoute[]): void {
  for (const route of routes) if (route.path.startsWith("/api/private/")) requiredDetail(route)
}

function requiredDetail({ method, path, hooks = {} }: RunningRoute) {
  const { detail = {} } = hooks
  const { summary, "x-permission": permission, "x-gate": gate } = detail
  if (!summary || permission === undefined || !gate)
    throw new Error(`${method} ${path} is missing in the OpenAPI document of the private API`)
  return { detail, summary, permission, gate }
}

function described(route: RunningRoute): DescribedRoute {
  const { method, path, hooks = {} } = route
  const { detail, summary, permission, gate } = requiredDetail(route)
  const place = placeOf({ method, path })
  const schemas = schemasOf(hooks)
  const operationId = detail.operationId ?? nameOf(place)
  const query = { ...pagingOf(hooks), ...schemas.query }
  const placed = { ...place, operationId, summary, detail, scopes: [], ...schemas, query, access: { permission, gate } }
  return { ...placed, failures: privateFailuresOf(placed) }
}

/** Returns the operation id of a route: `GET /api/private/sites/{site}/api-keys` is `getSitesSiteApiKeys`. */
function nameOf({ method, path }: Pick<DescribedRoute, "method" | "path">): string {
  const words = path.replace("/api/private/", "").match(/[a-z0-9]+/gi) ?? []
  return method + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("")
}

/** Returns the paging parameters of a route that returns a page of a list, with `count` if the list can be counted. */
function pagingOf({ query, response }: NonNullable<RunningRoute["hooks"]>): Readonly<Record<string, TSchema>> {
  const { properties = {} } = ((response ?? {}) as Record<string, { properties?: object }>)[200] ?? {} // schemas of objects
  const isOpen = (query as { additionalProperties?: boolean } | undefined)?.additionalProperties === true
  if (!isOpen || !("next_cursor" in properties)) return {}
  return "total" in properties ? { ...PAGING, ...COUNTING } : PAGING
}

const parameter = (schema: object): TSchema => t.Optional(t.String({ "x-parameter": schema }))

const { min, max, default: usual } = API.privateListLimit

/** Query parameters of every list (areas/00 section 7). */
const PAGING: Readonly<Record<string, TSchema>> = {
  limit: parameter({ type: "integer", minimum: min, maximum: max, default: usual, description: "Maximum number of items per page." }),
  cursor: parameter({
    type: "string",
    maxLength: MAX_CURSOR_CHARS,
    description: "Cursor of the next page: `next_cursor` of the previous page.",
  }),
}

const COUNTING: Readonly<Record<string, TSchema>> = {
  count: parameter({
    type: "string",
    enum: ["true", "false"],
    description: "Whether to return the number of all items in `total`. Default: false.",
  }),
}

const ABOUT = `The API of the dashboard. It can change with every version; programs should use the public API, which is stable.

Users sign in and get a session cookie. API keys are not accepted. \`x-permission\` is the permission that an operation requires on
the site or organization in its path, or \`self\`, \`member\`, \`instance_admin\` or \`open\`. \`x-gate\` lists further conditions:
\`also\` names permissions that are required as well, \`sudo\` requires a confirmation of identity within the last ten minutes,
\`personal\` is unavailable during impersonation, \`reads\` marks a request that changes nothing although its method is not \`GET\`.

Errors are \`application/problem+json\`. Use the member \`code\` to distinguish them. If a request has several problems, the first
one in this order is returned: host, address, method, origin, session, second factor, feature, site or organization, permission,
maintenance, confirmation of identity, rate limit, resources in the path, size, media type, syntax, content, conflicts.`

const TAGS: Readonly<Record<string, string>> = {
  setup: "Setup of the instance and its first user.",
  auth: "Sign-in and sign-out.",
  me: "Your account.",
  organizations: "Organizations with their policies and domains.",
  members: "Members of organizations and their roles.",
  invitations: "Invitations to organizations.",
  "api-keys": "API keys of organizations.",
  sites: "Sites you have access to.",
  documents: "Description of this API.",
}
