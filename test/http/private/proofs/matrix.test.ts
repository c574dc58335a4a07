import { afterAll, beforeAll, expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { bySize } from "../../../size.ts"
import type { Declared } from "../../openapi/document.ts"
import { codeOf, fresh, KINDS, type Kind, openWorld, type Person, sceneOf, send, signedIn, type World } from "../scene.ts"
import { hasRecipe, isPlain, makeCall, named, preparedCall, shortName, unusedRecipes } from "./recipes.ts"
import { leavesAll } from "./state.ts"

/** Every route of the document × every kind of caller, with the exact status. Rejected callers change nothing. */

// `test.each` needs the operations before any test runs.
const world: World = await openWorld()
const { operations } = world
afterAll(() => world[Symbol.asyncDispose]())

// The first user can be created only once, so this is tested separately.
const covered = operations.filter((operation) => shortName(operation) !== "POST /setup")
const RANKS = ["viewer", "editor", "admin", "owner"]

// Written by hand from the tables of the specification: minimum role, and whether it is checked on the site or the organization.
const MINIMUM: Readonly<Record<string, readonly [rank: string, on: "site" | "organization"]>> = {
  "site:read": ["viewer", "site"],
  "goals:write": ["editor", "site"],
  "funnels:write": ["editor", "site"],
  "segments:write": ["editor", "site"],
  "annotations:write": ["editor", "site"],
  "site:write": ["admin", "site"],
  "site:create": ["admin", "organization"],
  "site:delete": ["admin", "site"],
  "dashboards:share": ["editor", "site"],
  "people:read": ["editor", "site"],
  "cohorts:read": ["viewer", "site"],
  "integrations:read": ["editor", "site"],
  "integrations:write": ["admin", "site"],
  "webhooks:write": ["admin", "site"],
  "dashboards:read": ["viewer", "site"],
  "dashboards:write": ["editor", "site"],
  "cohorts:write": ["editor", "site"],
  "people:erase": ["admin", "site"],
  "imports:read": ["viewer", "site"],
  "imports:write": ["editor", "site"],
  "links:read": ["viewer", "site"],
  "links:write": ["editor", "site"],
  "revenue:read": ["viewer", "site"],
  "revenue:write": ["editor", "site"],
  "revenue:settings": ["admin", "site"],
  "pixels:read": ["viewer", "site"],
  "pixels:write": ["editor", "site"],
  "export:read": ["viewer", "site"],
  "members:read": ["admin", "organization"],
  "members:write": ["admin", "organization"],
  "keys:write": ["admin", "organization"],
  "audit:read": ["admin", "organization"],
  "org:write": ["admin", "organization"],
  "org:delete": ["owner", "organization"],
}

/** Returns the code of the rejection, or undefined if the call is allowed. */
function refusalOf({ permission, gate, path }: Declared, kind: Kind): string | undefined {
  if (permission === "open") return undefined
  if (kind === "no session" || kind === "bearer key") return "session_required"
  if (permission === "self") return undefined
  if (permission === "instance_admin") return kind === "instance admin" ? undefined : "forbidden"
  const isMember = RANKS.includes(kind)
  if (path.includes("/sites/{site}")) {
    expect(gate.ask).toBe("site")
    if (!isMember && kind !== "guest of this site") return "site_not_found"
  } else {
    expect({ path, isBelow: path.includes("/organizations/{organization}") }).toEqual({ path, isBelow: true })
    if (!isMember) return "organization_not_found"
    if (permission === "member") return undefined
  }
  const [minimum, on] = MINIMUM[permission]!
  const rank = kind === "guest of this site" ? (on === "site" ? "viewer" : "none") : kind
  return RANKS.indexOf(rank) >= RANKS.indexOf(minimum) ? undefined : "forbidden"
}

/** Whether the ranks between the lowest one that is allowed and the owner are tried as well. */
const ALL_RANKS = bySize({ check: false, full: true, release: true })

/** Returns the kinds of callers whose calls must succeed, as far as the size of this run tries them. */
function triedOf(allowed: readonly Kind[]): readonly Kind[] {
  const lowest = allowed.find((kind) => RANKS.includes(kind))
  return allowed.filter((kind) => ALL_RANKS || !RANKS.includes(kind) || kind === lowest || kind === "owner")
}

const STATUS: Readonly<Record<string, number>> = {
  session_required: 401,
  forbidden: 403,
  site_not_found: 404,
  organization_not_found: 404,
}

/** Callers without access, for the site and for the deleted site. */
const callers = new Map<Kind, Person>()
const deletedSiteCallers = new Map<Kind, Person>()
let deletedSite = 0
beforeAll(async () => {
  const { sites } = world.instance.app.instance
  deletedSite = (await sites.create(1, { name: "Late", hosts: ["late.example"] })).id
  for (const kind of KINDS) callers.set(kind, await sceneOf(world, kind).caller())
  for (const kind of KINDS) deletedSiteCallers.set(kind, await sceneOf(world, kind, { site: deletedSite }).caller())
  await sites.remove(deletedSite)
})

/** A rejected call names resources that exist. */
const addressOf = ({ path, gate }: Declared) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(name === "site" && gate.deleted ? deletedSite : 1))

test("every permission is in the table of the specification, and every write has a recipe", () => {
  const permissions = new Set(operations.map(({ permission }) => permission))
  const known = [...Object.keys(MINIMUM), "open", "self", "member", "instance_admin"]
  expect([...permissions].filter((permission) => !known.includes(permission))).toEqual([])
  expect(covered.filter((operation) => !isPlain(operation) && !hasRecipe(operation)).map(shortName)).toEqual([])
  expect(unusedRecipes(operations)).toEqual([])
})

test.each(named(covered))(
  "%s allows exactly the right callers",
  async (_, operation) => {
    const wanted = KINDS.map((kind) => ({ kind, code: refusalOf(operation, kind) }))
    const refuseAll = async () => {
      for (const { kind, code } of wanted.filter((one) => one.code !== undefined)) await expectRefusal(operation, kind, code!)
    }
    // Rejected calls have changed nothing.
    expect(await leavesAll(world, refuseAll)).toBe(true)

    const home = await newHome()
    for (const kind of triedOf(wanted.filter(({ code }) => code === undefined).map(({ kind }) => kind))) {
      const scene = sceneOf(world, kind, home)
      const prepared = await preparedCall(operation, scene)
      const answer = await makeCall(operation, scene, prepared)
      const status = prepared.refused?.status ?? successOf(operation)
      expect({ kind, status: answer.status, text: status === answer.status ? "" : answer.text }).toEqual({ kind, status, text: "" })
    }
  },
  60_000,
)

const withFurther = covered.filter(({ gate }) => (gate.also ?? []).length > 0)

test.each(named(withFurther))("%s is refused to members who are denied a permission that it needs as well", async (_, operation) => {
  const { catalog } = world.instance.app.instance
  for (const denied of operation.gate.also!) {
    const member = await signedIn(world, { role: "editor" })
    const denies = JSON.stringify([denied])
    await catalog.run(sql`update memberships set denies_json = ${denies} where user_id = ${member.id}`)
    const answer = await send(world, operation.method, addressOf(operation), {
      cookie: member.cookie,
      ...(operation.method !== "GET" && { body: {} }),
    })
    expect(answer).toMatchObject({ status: 403, body: { code: "forbidden", required_permission: denied } })
  }
})

test("every route of a site that answers with a table as CSV needs export:read", () => {
  const files = covered.filter(({ gate, answers }) => gate.ask === "site" && "text/csv" in (answers["200"]?.content ?? {}))
  // Lines that an import has rejected belong to the file that the user has brought.
  const tables = files.filter(({ path }) => !path.endsWith("/rejects.csv"))
  expect(tables.filter(({ permission, gate }) => ![permission, ...(gate.also ?? [])].includes("export:read")).map(shortName)).toEqual([])
  expect(files.map(shortName)).toContain("GET /sites/{site}/export")
})

async function expectRefusal(operation: Declared, kind: Kind, code: string): Promise<void> {
  const answer = await send(world, operation.method, addressOf(operation), {
    cookie: (operation.gate.deleted ? deletedSiteCallers : callers).get(kind)!.cookie,
    ...(kind === "bearer key" && { key: world.instance.key }),
    ...(operation.method !== "GET" && { body: {} }),
  })
  const permission = (answer.body as { required_permission?: string }).required_permission
  const wanted = { kind, status: STATUS[code]!, code, permission: code === "forbidden" ? operation.permission : undefined }
  expect({ kind, status: answer.status, code: codeOf(answer), permission }).toEqual(wanted)
}

/** A new organization for each route, because the number of members is limited. */
async function newHome(): Promise<{ organization: number; site: number }> {
  const { organizations, sites } = world.instance.app.instance
  const { id } = await organizations.create({ name: fresh("Home") })
  return { organization: id, site: (await sites.create(id, { name: fresh("Home"), hosts: [`${fresh("home")}.example`] })).id }
}

/** The last success status; for operations in two steps, that of the second. */
const successOf = ({ answers }: Declared): number => Number(Object.keys(answers).findLast((status) => status < "304"))
