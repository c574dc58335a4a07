import type { TSchema } from "@sinclair/typebox"
import type { ErrorCode } from "../../domain/error.ts"
import type { Scope } from "../../domain/key.ts"
import type { Gate } from "../../web/router.ts"
import { failuresOf } from "./failures.ts"
import type { Schema } from "./schema.ts"

/** Mounted route. Elysia removes macro names from a mounted route but keeps its `detail`. */
export interface RunningRoute {
  method: string
  path: string
  hooks?: { detail?: Detail; query?: unknown; params?: unknown; response?: unknown }
}

/** OpenAPI description of a route. */
export interface Detail {
  hide?: boolean
  operationId?: string
  summary?: string
  description?: string
  tags?: readonly string[]
  requestBody?: { required: boolean; content: Content }
  /** Responses in addition to those of the route's schemas. */
  responses?: Readonly<Record<string, { description?: string; content?: Content; headers?: readonly string[] }>>
  "x-required-scopes"?: readonly Scope[]
  "x-unrestricted-key"?: boolean
  /** Permission that a private route requires, and its further conditions. */
  "x-permission"?: string
  "x-gate"?: Gate
  /** Error codes in addition to those that follow from the route. */
  "x-failures"?: readonly ErrorCode[]
  /** Whether a public route creates or deletes something without a version. */
  "x-unversioned"?: boolean
  /** JSON bodies of an example request and its response, of routes that are not in `examples.ts`: those of plugins. */
  "x-examples"?: { request?: unknown; response?: unknown }
  /** Returns the messages that this instance sends to webhooks, by event. Called when the document is created. */
  "x-webhooks"?: () => Readonly<Record<string, { title: string; schema: TSchema }>>
}
export type Content = Readonly<Record<string, { schema: TSchema | Schema }>>

/** Route with everything the document needs. */
export interface DescribedRoute extends PlacedRoute {
  /** Error codes of the route, in the order of the checks. */
  failures: readonly ErrorCode[]
}

export interface PlacedRoute {
  method: "get" | "post" | "put" | "patch" | "delete"
  /** Path template, such as `/api/public/v1/sites/{site_id}`. */
  path: string
  /** Names of the ids in the path, in order. */
  ids: readonly string[]
  operationId: string
  summary: string
  detail: Detail
  /** Scopes of which one is enough. Without scopes no key is needed. */
  scopes: readonly Scope[]
  /** Names and schemas of the query parameters. */
  query: Readonly<Record<string, TSchema>>
  requiredQuery: readonly string[]
  answers: Readonly<Record<string, TSchema>>
  /** Requirements for callers of a private route. */
  access?: { permission: string; gate: Gate }
}

/** Types the OpenAPI description of a route. Elysia accepts it unchanged, but its own type lacks our members. */
export const describeRoute = (detail: Detail): object => detail

const PUBLIC = /^\/api\/(public\/v1|v0|v1|v2\/query|websites)(\/|$)/

/** Returns the documented routes of the public API. Throws if one has no operation id, summary or scopes. */
export const describedRoutes = (routes: readonly RunningRoute[]): DescribedRoute[] =>
  routes.filter(({ path, hooks }) => PUBLIC.test(path) && !hooks?.detail?.hide).map(described)

function described({ method, path, hooks = {} }: RunningRoute): DescribedRoute {
  const { detail = {} } = hooks
  const { operationId, summary, "x-required-scopes": scopes } = detail
  if (!operationId || !summary || !scopes) throw new Error(`${method} ${path} is missing in the OpenAPI document`)
  const placed = { ...placeOf({ method, path }), operationId, summary, detail, scopes, ...schemasOf(hooks) }
  return { ...placed, failures: failuresOf(placed) }
}

/** Returns method and path template of a route: `/goals/:id` becomes `/goals/{goal_id}`. */
export function placeOf({ method, path }: Pick<RunningRoute, "method" | "path">): Pick<PlacedRoute, "method" | "path" | "ids"> {
  const ids: string[] = []
  const template = path.replace(/([\w-]+)\/:(\w+)/g, (_, things: string, name: string) => {
    const id = name === "id" ? `${things.replaceAll("-", "_").replace(/s$/, "")}_id` : name
    ids.push(id)
    return `${things}/{${id}}`
  })
  // The only route for all methods rejects every method except POST.
  return { method: method === "ALL" ? "post" : (method.toLowerCase() as PlacedRoute["method"]), path: template, ids }
}

/** Returns the schemas of the query and the responses of a route. */
export function schemasOf(hooks: NonNullable<RunningRoute["hooks"]>): Pick<PlacedRoute, "query" | "requiredQuery" | "answers"> {
  const query = hooks.query as { properties?: Record<string, TSchema> } | undefined // routes of the APIs have schemas of objects
  const properties = query?.properties ?? {}
  return {
    query: properties,
    requiredQuery: Object.keys(properties).filter((name) => properties[name]!["x-required"]),
    answers: (hooks.response ?? {}) as Record<string, TSchema>, // so the routes declare it
  }
}
