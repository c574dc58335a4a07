import { type TSchema, Type as t } from "@sinclair/typebox"
import { API } from "../../domain/limits.ts"
import { documentOf, type OpenApiDocument } from "./document.ts"
import { privateFailuresOf } from "./private-failures.ts"
import { type DescribedRoute, placeOf, type RunningRoute, schemasOf } from "./route.ts"

/**
 * The private API as OpenAPI 3.1, from the routes that run, those of plugins among them: what they are asked, answer and
 * refuse follows from their schemas, the permission and the terms of their gate.
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
    tags: tags.map((tag) => [tag, TAGS[tag] ?? `Routes of ${tag}.`]),
    securitySchemes: {
      session: { type: "apiKey", in: "cookie", name: cookie, description: "The signed cookie of a session; signing in sets it." },
    },
  })
}

/** The routes below `/api/private`. Throws for one that does not say what it is. */
const describedPrivateRoutes = (routes: readonly RunningRoute[]): DescribedRoute[] =>
  routes.filter(({ path }) => path.startsWith("/api/private/")).map(described)

/** The same refusal without the work of describing: at every start. */
export function refuseUndescribed(routes: readonly RunningRoute[]): void {
  for (const route of routes) if (route.path.startsWith("/api/private/")) saidOf(route)
}

function saidOf({ method, path, hooks = {} }: RunningRoute) {
  const { detail = {} } = hooks
  const { summary, "x-permission": permission, "x-gate": gate } = detail
  if (!summary || permission === undefined || !gate)
    throw new Error(`${method} ${path} is missing in the OpenAPI document of the private API`)
  return { detail, summary, permission, gate }
}

function described(route: RunningRoute): DescribedRoute {
  const { method, path, hooks = {} } = route
  const { detail, summary, permission, gate } = saidOf(route)
  const place = placeOf({ method, path })
  const schemas = schemasOf(hooks)
  const operationId = detail.operationId ?? nameOf(place)
  const query = isPaged(hooks) ? { ...PAGING, ...schemas.query } : schemas.query
  const placed = { ...place, operationId, summary, detail, scopes: [], ...schemas, query, access: { permission, gate } }
  return { ...placed, failures: privateFailuresOf(placed) }
}

/** `GET /api/private/sites/{site}/api-keys` is `getSitesSiteApiKeys`. */
function nameOf({ method, path }: Pick<DescribedRoute, "method" | "path">): string {
  const words = path.replace("/api/private/", "").match(/[a-z0-9]+/gi) ?? []
  return method + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("")
}

/** Its answer is a page of a list, and its parser takes what chooses the page. */
function isPaged({ query, response }: NonNullable<RunningRoute["hooks"]>): boolean {
  const { properties } = ((response ?? {}) as Record<string, { properties?: object }>)[200] ?? {} // schemas of objects
  const isOpen = (query as { additionalProperties?: boolean } | undefined)?.additionalProperties === true
  return isOpen && properties !== undefined && "next_cursor" in properties
}

const parameter = (schema: object): TSchema => t.Optional(t.String({ "x-parameter": schema }))

const { min, max, default: usual } = API.privateListLimit

/** Of every list (areas/00 section 7). */
const PAGING: Readonly<Record<string, TSchema>> = {
  limit: parameter({ type: "integer", minimum: min, maximum: max, default: usual }),
  cursor: parameter({ type: "string", maxLength: 200, description: "The member next_cursor of the page before" }),
  count: parameter({ type: "string", enum: ["true", "false"], description: "true adds the member total" }),
}

const ABOUT = `What the dashboard speaks: everything that people see and manage. It may change with every version; programs use the
public API, which does not.

People sign in; the session is a cookie. API keys are not read here. Each operation names its permission (\`x-permission\`), on the
site or the organization in its path, or \`self\`, \`member\`, \`instance_admin\`, \`open\`; \`x-gate\` names its terms: \`sudo\` wants a
proof within the last ten minutes, \`personal\` is shut to whoever acts for somebody else, \`reads\` changes nothing.

Errors are \`application/problem+json\`; branch on their member \`code\`. Of several faults the first in this order answers: host,
address, method, origin, session, second factor, area, site or organization, permission, maintenance, proof, rate, things named
in the path, size, media type, syntax, content, conflicts.`

const TAGS: Readonly<Record<string, string>> = {
  setup: "Making the first user.",
  auth: "Signing in and out.",
  me: "The own account.",
  organizations: "Organizations, their policy and their domains.",
  members: "Who belongs to them, and with which role.",
  invitations: "Who is to belong to them.",
  "api-keys": "Keys for programs.",
  sites: "Sites that somebody may see.",
  documents: "This description.",
}
