import type { AnyElysia } from "elysia"
import type { Permissions } from "../domain/permission.ts"
import type { Gate } from "../web/router.ts"
import { claimOpen, pluginFault } from "./check.ts"
import type { AnyPlugin, Contribution } from "./contract.ts"
import { PUBLIC_SITE } from "./routers.ts"

/** Access rules that a route can have instead of a permission. */
const MARKERS: ReadonlySet<unknown> = new Set(["open", "self", "instance_admin", "member"])

/** Returns the open paths of every plugin, including those from its settings. Throws if two paths overlap. */
export function openPaths(plugins: readonly AnyPlugin[], settings: Readonly<Record<string, object>>): Map<string, string[]> {
  const claims = new Map<string, string>()
  return new Map(
    plugins.map(({ id, paths }) => {
      const refuse = (problem: string): never => {
        throw pluginFault(id, problem)
      }
      const claim = (what: string): void => {
        if (claims.has(what)) refuse(`${what} is already taken by the plugin ${claims.get(what)}`)
        claims.set(what, id)
      }
      const own = (paths?.open ?? []).map((path) => (typeof path === "string" ? path : settingOf(settings[id], path.setting)))
      for (const path of own) claimOpen(path, claims, claim, refuse)
      return [id, own]
    }),
  )
}

/** Normalizes a path from a setting: `/go` becomes `go`. */
const settingOf = (settings: object | undefined, name: string): string =>
  String(Object.entries(settings ?? {}).find(([key]) => key === name)?.[1] ?? "").replace(/^\/+|\/+$/g, "")

interface Allowed {
  open: readonly string[]
  permissions: Permissions
}

/** Checks the routes of a plugin: all below its own paths, and each private route with an access rule. Throws a plugin fault. */
export function checkRoutes(
  { id, paths = {} }: AnyPlugin,
  { routes = [], openRoutes = [] }: Contribution,
  { open, permissions }: Allowed,
): void {
  const bases = [
    ...(paths.site ?? []).map((word) => `/api/private/sites/:site/${word}`),
    ...(paths.instance ?? []).map((word) => `/api/private/${word}`),
  ]
  for (const { method, path, asks, also, summary } of listed(routes)) {
    const named = `${method} ${path}`
    if (!isBelow(path, bases)) throw pluginFault(id, `${named} is outside the paths of the plugin`)
    if (typeof asks !== "string") throw pluginFault(id, `${named} has no access rule`)
    const undeclared = [asks, ...also].find((permission) => !MARKERS.has(permission) && !Object.hasOwn(permissions, permission))
    if (undeclared !== undefined) throw pluginFault(id, `${named} requires the undeclared permission ${undeclared}`)
    if (typeof summary !== "string") throw pluginFault(id, `${named} has no summary for the OpenAPI document`)
  }
  const openBases = open.map((word) => `/${word}`)
  for (const { method, path, asks } of listed(openRoutes)) {
    if (!isBelow(path, openBases)) throw pluginFault(id, `${method} ${path} is outside the open paths of the plugin`)
    if (asks !== "open") throw pluginFault(id, `${method} ${path} was not created with openRouter()`)
  }
}

/** Checks the routes of a plugin in the public API: all below its own paths, and each with its scopes. Throws a plugin fault. */
export function checkPublicRoutes({ id, paths = {} }: AnyPlugin, { routes }: AnyElysia): void {
  const bases = (paths.public ?? []).map((word) => `${PUBLIC_SITE}/${word}`)
  for (const { method, path, hooks } of routes) {
    if (!isBelow(path, bases)) throw pluginFault(id, `${method} ${path} is outside the public paths of the plugin`)
    if (!hooks?.detail?.["x-required-scopes"]) throw pluginFault(id, `${method} ${path} has no scopes`)
  }
}

/** Returns the access rule of a route. Elysia removes macro names from a mounted route but keeps its `detail`. */
const listed = (groups: readonly AnyElysia[]) =>
  groups.flatMap(({ routes }) =>
    routes.map(({ method, path, hooks }) => ({
      method,
      path,
      asks: hooks?.detail?.["x-permission"] as unknown,
      also: ((hooks?.detail?.["x-gate"] as Gate | undefined)?.also ?? []) as readonly string[],
      summary: hooks?.detail?.summary as unknown,
    })),
  )

const isBelow = (path: string, bases: readonly string[]): boolean => bases.some((base) => path === base || path.startsWith(`${base}/`))
