import type { TSchema } from "@sinclair/typebox"
import type { ErrorCode } from "../../domain/error.ts"
import type { Scope } from "../../domain/key.ts"
import type { Gate } from "../../plugin/router.ts"
import { failuresOf } from "./failures.ts"
import type { Schema } from "./schema.ts"

/** What a running route says of itself: Elysia takes macro names off a mounted route, but keeps what they describe. */
export interface RunningRoute {
  method: string
  path: string
  hooks?: { detail?: Detail; query?: unknown; params?: unknown; response?: unknown }
}

/** The description of a route, in the words of OpenAPI. */
export interface Detail {
  hide?: boolean
  operationId?: string
  summary?: string
  description?: string
  tags?: readonly string[]
  requestBody?: { required: boolean; content: Content }
  /** Beside those of the route's own schemas. */
  responses?: Readonly<Record<string, { description?: string; content?: Content; headers?: readonly string[] }>>
  "x-required-scopes"?: readonly Scope[]
  "x-unrestricted-key"?: boolean
  /** What a private route asks of its caller, and the terms of it. */
  "x-permission"?: string
  "x-gate"?: Gate
  /** Failures of its own, beside those that follow from what the route is. */
  "x-failures"?: readonly ErrorCode[]
}
export type Content = Readonly<Record<string, { schema: TSchema | Schema }>>

/** A route as the document shows it. */
export interface DescribedRoute extends PlacedRoute {
  /** What it can fail with, in the order in which it is looked for. */
  failures: readonly ErrorCode[]
}

export interface PlacedRoute {
  method: "get" | "post" | "put" | "patch" | "delete"
  /** As a template: `/api/public/v1/sites/{site_id}`. */
  path: string
  /** Names of the ids in the path, in their order. */
  ids: readonly string[]
  operationId: string
  summary: string
  detail: Detail
  /** Any one of them is enough; without any no key is needed. */
  scopes: readonly Scope[]
  /** Names and schemas of the query parameters. */
  query: Readonly<Record<string, TSchema>>
  requiredQuery: readonly string[]
  answers: Readonly<Record<string, TSchema>>
  /** Of a private route: what it asks of its caller. */
  access?: { permission: string; gate: Gate }
}

/** What a route tells of itself in the documents. The framework takes it as it is; its own type lacks our members. */
export const told = (detail: Detail): object => detail

const PUBLIC = /^\/api\/(public\/v1|v2\/query)(\/|$)/

/** The routes of the public API. Throws for one that does not say what it is. */
export const describedRoutes = (routes: readonly RunningRoute[]): DescribedRoute[] =>
  routes.filter(({ path, hooks }) => PUBLIC.test(path) && !hooks?.detail?.hide).map(described)

function described({ method, path, hooks = {} }: RunningRoute): DescribedRoute {
  const { detail = {} } = hooks
  const { operationId, summary, "x-required-scopes": scopes } = detail
  if (!operationId || !summary || !scopes) throw new Error(`${method} ${path} is missing in the OpenAPI document`)
  const placed = { ...placeOf({ method, path }), operationId, summary, detail, scopes, ...schemasOf(hooks) }
  return { ...placed, failures: failuresOf(placed) }
}

/** A private `/goals/:id` is `/goals/{goal_id}` here. */
export function placeOf({ method, path }: Pick<RunningRoute, "method" | "path">): Pick<PlacedRoute, "method" | "path" | "ids"> {
  const ids: string[] = []
  const template = path.replace(/([\w-]+)\/:(\w+)/g, (_, things: string, name: string) => {
    const id = name === "id" ? `${things.replaceAll("-", "_").replace(/s$/, "")}_id` : name
    ids.push(id)
    return `${things}/{${id}}`
  })
  // The one route for all methods refuses every other method itself.
  return { method: method === "ALL" ? "post" : (method.toLowerCase() as PlacedRoute["method"]), path: template, ids }
}

/** What a route takes in its query, and what it answers. */
export function schemasOf(hooks: NonNullable<RunningRoute["hooks"]>): Pick<PlacedRoute, "query" | "requiredQuery" | "answers"> {
  const query = hooks.query as { properties?: Record<string, TSchema> } | undefined // routes of the APIs have schemas of objects
  const properties = query?.properties ?? {}
  return {
    query: properties,
    requiredQuery: Object.keys(properties).filter((name) => properties[name]!["x-required"]),
    answers: (hooks.response ?? {}) as Record<string, TSchema>, // so the routes declare it
  }
}
