import type { Declared } from "../../openapi/document.ts"
import { BASE, type Json, type Scene, send } from "../scene.ts"
import { AREA_PROOFS } from "./area-proofs.ts"
import { ACCOUNT_RECIPES } from "./recipes-account.ts"
import { ADMIN_RECIPES } from "./recipes-admin.ts"
import { ORGANIZATION_RECIPES } from "./recipes-organization.ts"
import { SITE_RECIPES } from "./recipes-site.ts"
import { THINGS } from "./things.ts"

/** The row that a successful write leaves. */
export interface ExpectedAuditEntry {
  /** By hand, from the rule `<area>.<thing>.<verb>`. */
  action: string
  /** Kind and id of what was done something to. Without an id: the last one in the path, or what was made. */
  target: readonly [type: string, id?: string | number]
  /** What of the request or its answer must stand nowhere in the row. */
  secrets?: (answer: Json) => readonly string[]
  /** Where it happened, when the path does not tell. */
  organization?: number | "made" | null
  site?: number | "made" | null
  /** Rows of what comes with it, such as the session of whoever signs up. */
  beside?: readonly string[]
  /** Rows of the work that has only begun with the answer, in their order. */
  work?: readonly string[]
  /** The work goes on behind the answer, so that its time tells nothing. */
  later?: true
  /** Who is written down, when the session does not tell. */
  actor?: number
}

/** What one call needs to succeed. */
export interface Prepared {
  /** By name as in the path; those of site and organization are the scene's. */
  ids?: Readonly<Record<string, string | number>>
  query?: string
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Instead of the caller's. */
  cookie?: string
  /** Missing for what only reads or hands something out; then `silent` says why no row is left. */
  deed?: ExpectedAuditEntry
  silent?: string
  /** The farthest that a call can come here. */
  refused?: { status: number; code: string }
}

/** Makes what the call needs. A thing in the path that is not named here is made as `things.ts` says. */
export type Recipe = (scene: Scene) => Promise<Prepared> | Prepared

const RECIPES: Readonly<Record<string, Recipe>> = {
  ...ACCOUNT_RECIPES,
  ...ORGANIZATION_RECIPES,
  ...SITE_RECIPES,
  ...ADMIN_RECIPES,
  ...Object.assign({}, ...AREA_PROOFS.map(({ recipes }) => recipes)),
}

/** As people write it: `POST /sites/{site}/goals`. */
export const shortName = ({ method, path }: Pick<Declared, "method" | "path">): string => `${method} ${path.replace("/api/private", "")}`

/** For `test.each`. */
export const named = (operations: readonly Declared[]) => operations.map((operation) => [shortName(operation), operation] as const)

/** A GET needs one only where its query or its ids are not plain. */
export const isPlain = ({ method }: Declared): boolean => method === "GET"
export const hasRecipe = (operation: Declared): boolean => shortName(operation) in RECIPES
export const unusedRecipes = (operations: readonly Declared[]): string[] => {
  const known = new Set(operations.map(shortName))
  return Object.keys(RECIPES).filter((name) => !known.has(name))
}

/** A call that succeeds for whoever may make it. */
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

/** The same as it goes over the wire. */
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
