import type { Declared } from "../../openapi/document.ts"
import { BASE, type Json, type Scene, send } from "../scene.ts"
import { AREA_PROOFS } from "./area-proofs.ts"
import { ACCOUNT_RECIPES } from "./recipes-account.ts"
import { ADMIN_RECIPES } from "./recipes-admin.ts"
import { ORGANIZATION_RECIPES } from "./recipes-organization.ts"
import { SITE_RECIPES } from "./recipes-site.ts"
import { THINGS } from "./things.ts"

/** The audit entry that a successful write leaves. */
export interface ExpectedAuditEntry {
  /** Written by hand, by the rule `<area>.<thing>.<verb>`. */
  action: string
  /** Type and id of the target. Default id: the last one in the path, or that of the created resource. */
  target: readonly [type: string, id?: string | number]
  /** Parts of the request or the response that the entry must not contain. */
  secrets?: (answer: Json) => readonly string[]
  /** The place, if it does not follow from the path. */
  organization?: number | "made" | null
  site?: number | "made" | null
  /** Entries of accompanying actions, such as the session of a user who signs up. */
  beside?: readonly string[]
  /** Entries of the work that continues after the response, in order. */
  work?: readonly string[]
  /** True if the work runs after the response, so that its time reveals nothing. */
  later?: true
  /** The actor, if not the session's user. */
  actor?: number
}

/** Everything one call needs to succeed. */
export interface Prepared {
  /** Path parameters by name. Default for site and organization: those of the scene. */
  ids?: Readonly<Record<string, string | number>>
  query?: string
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Replaces the caller's cookie. */
  cookie?: string
  /** Missing if the call only reads or issues something; `silent` then gives the reason. */
  auditEntry?: ExpectedAuditEntry
  silent?: string
  /** The expected rejection, if the call cannot succeed in a test. */
  refused?: { status: number; code: string }
}

/** Prepares a call. Path parameters that it does not set are created as `things.ts` defines. */
export type Recipe = (scene: Scene) => Promise<Prepared> | Prepared

const RECIPES: Readonly<Record<string, Recipe>> = {
  ...ACCOUNT_RECIPES,
  ...ORGANIZATION_RECIPES,
  ...SITE_RECIPES,
  ...ADMIN_RECIPES,
  ...Object.assign({}, ...AREA_PROOFS.map(({ recipes }) => recipes)),
}

/** The name of an operation as in the specification: `POST /sites/{site}/goals`. */
export const shortName = ({ method, path }: Pick<Declared, "method" | "path">): string => `${method} ${path.replace("/api/private", "")}`

/** Rows for `test.each`. */
export const named = (operations: readonly Declared[]) => operations.map((operation) => [shortName(operation), operation] as const)

/** A GET needs a recipe only if it has required parameters or ids of a special form. */
export const isPlain = ({ method }: Declared): boolean => method === "GET"
export const hasRecipe = (operation: Declared): boolean => shortName(operation) in RECIPES
export const unusedRecipes = (operations: readonly Declared[]): string[] => {
  const known = new Set(operations.map(shortName))
  return Object.keys(RECIPES).filter((name) => !known.has(name))
}

/** Prepares a call that succeeds for a caller with the required permission. */
export async function preparedCall(operation: Declared, scene: Scene): Promise<Prepared & { path: string }> {
  const recipe = RECIPES[shortName(operation)]
  if (!recipe && !isPlain(operation)) throw new Error(`${shortName(operation)} has no recipe: say in test/http/private how it succeeds`)
  const prepared = (await recipe?.(scene)) ?? {}
  const ids: Record<string, string | number> = { site: scene.site, organization: scene.organization, ...prepared.ids }
  for (const name of operation.ids) {
    if (name in ids) continue
    const make = THINGS[name]
    if (!make) throw new Error(`Nobody says in test/http/private/proofs/things.ts how a ${name} is made, of ${shortName(operation)}`)
    ids[name] = await make(scene)
  }
  return { ...prepared, ids, path: pathWith(operation, ids, prepared.query) }
}

export function pathWith({ path }: Declared, ids: Readonly<Record<string, string | number>>, query?: string): string {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(ids[name])))
  return query === undefined ? address : `${address}?${query}`
}

/** Sends the prepared call. */
export async function makeCall(operation: Declared, scene: Scene, prepared: Awaited<ReturnType<typeof preparedCall>>) {
  const { cookie } = await scene.caller()
  const { path, body, headers } = prepared
  return send(scene.world, operation.method, path, {
    cookie: prepared.cookie ?? cookie,
    ...(scene.kind === "bearer key" && { key: scene.world.instance.key }),
    body,
    headers: { ...(operation.method !== "GET" && { origin: BASE }), "x-request-id": "same", ...headers },
  })
}
