import { afterAll, beforeAll, expect, test } from "bun:test"
import { bySize } from "../../../size.ts"
import type { Declared } from "../../openapi/document.ts"
import { BASE, openWorld, type Person, type Scene, sceneOf, send, signedIn, type World } from "../scene.ts"
import { named, pathWith, preparedCall, shortName } from "./recipes.ts"
import { leavesAll } from "./state.ts"
import { THINGS } from "./things.ts"

/**
 * Creates organizations with resources of every kind. A request for a resource of another organization gets the same response as for
 * one that does not exist, byte by byte, reads nothing and changes nothing. Each route tries every organization against one other,
 * chosen differently for each route; a release run tries all pairs.
 */
const ORGANIZATIONS = bySize({ check: 6, full: 24, release: 24 })
const ALL = bySize({ check: false, full: false, release: true })

const world: World = await openWorld()
afterAll(() => world[Symbol.asyncDispose]())

/** Part of every text of one organization, and of no other. */
const markerOf = (index: number): string => `zzmark${index}zz`
const MARKER = /zzmark(\d+)zz/g

/** Three owners read everything. */
const isReader = (index: number): boolean => index % (ORGANIZATIONS / 3) === 0

interface Home {
  index: number
  scene: Scene
  owner: Person
  /** One resource of each kind. */
  ids: Record<string, string | number>
}
const homes: Home[] = []

const inPlaces = world.operations.filter(({ gate }) => gate.ask === "site" || gate.ask === "organization")
/** Path parameters other than site and organization. */
const thingNames = [...new Set(inPlaces.flatMap(({ ids }) => ids))].filter((name) => name !== "site" && name !== "organization")

beforeAll(async () => {
  for (let index = 0; index < ORGANIZATIONS; index++) homes.push(await furnished(index))
  // Pending erasures and takeouts are completed for the organizations that read everything.
  const { jobs } = world.instance.app.instance
  for (const { index, ids } of homes) for (const job of [ids.takeout_id, ids.erase_id]) if (!isReader(index)) await jobs.cancel(Number(job))
  await jobs.drain()
  // An erasure deletes the archives of its site.
  for (const { ids, scene } of homes.filter(({ index }) => isReader(index))) ids.takeout_id = await THINGS.takeout_id!(scene)
  await jobs.drain()
}, 60_000)

/** Creates an organization whose texts all contain its marker. */
async function furnished(index: number): Promise<Home> {
  const { organizations, sites, goals } = world.instance.app.instance
  const name = markerOf(index)
  const { id: organization } = await organizations.create({ name })
  const site = await sites.create(organization, { name, hosts: [`${name}.example`] })
  await goals.create(site, { kind: "event", value: name, name })
  const owner = await signedIn(world, { organizationId: organization, role: "owner" })
  const scene: Scene = {
    ...sceneOf(world, "owner", { organization, site: site.id }),
    caller: async () => owner,
    organizationOwner: async () => owner,
  }
  const ids: Record<string, string | number> = {}
  for (const thing of thingNames) {
    const make = THINGS[thing]
    if (!make) throw new Error(`Nobody says in test/http/private/proofs/things.ts how a ${thing} is made`)
    ids[thing] = await make(marked(scene, name))
  }
  await world.instance.collect({ n: name, u: `https://${name}.example/${name}`, d: site.tracking_id })
  return { index, scene, owner, ids }
}

/** Adds the marker to the texts of every resource created in the scene. */
function marked(scene: Scene, marker: string): Scene {
  const withMarker = (body: unknown): unknown =>
    JSON.parse(JSON.stringify(body), (key, value) => (["name", "text", "note"].includes(key) ? `${value} ${marker}` : value))
  return { ...scene, prepare: (who, method, path, body) => scene.prepare(who, method, path, body && withMarker(body)) }
}

const ABSENT = 999_999
const absentOf = (name: string): string | number => (typeof homes[0]!.ids[name] === "string" ? "absent" : ABSENT)

/** Pairs of organizations to test: all of them, or a ring whose step depends on the route. */
function pairsFor(operation: Declared): (readonly [Home, Home])[] {
  const step = 1 + (world.operations.indexOf(operation) % (ORGANIZATIONS - 1))
  return homes.flatMap((home) =>
    homes
      .filter(({ index }) => index !== home.index && (ALL || index === (home.index + step) % ORGANIZATIONS))
      .map((other) => [home, other] as const),
  )
}

/** Everything by which a caller could distinguish two responses. */
async function seen(operation: Declared, { owner }: Home, ids: Record<string, string | number>, body: unknown, query: string | undefined) {
  const { status, headers, text } = await send(world, operation.method, pathWith(operation, ids, query), {
    cookie: owner.cookie,
    body,
    headers: { ...(operation.method !== "GET" && { origin: BASE }), "x-request-id": "same" },
  })
  return { status, text, headers: [...headers].sort() }
}

const strangeMarkers = (text: string, { index }: Home): string[] =>
  [...text.matchAll(MARKER)].map(([, found]) => found!).filter((found) => Number(found) !== index)

test.each(named(inPlaces))(
  "%s reveals nothing about another organization",
  async (_, operation) => {
    // A valid body, so that only the id is wrong. Where preparing one fails because it needs another state, any body will do.
    const { body, query } = await preparedCall(operation, sceneOf(world, "owner")).catch(() => ({ body: {}, query: undefined }))
    const place = operation.gate.ask as "site" | "organization"
    const own = ({ scene, ids }: Home) => ({ ...ids, site: scene.site, organization: scene.organization })
    const thing = operation.ids.findLast((name) => name !== "site" && name !== "organization")
    const tryAll = async () => {
      for (const [home, other] of pairsFor(operation)) {
        const absent = await seen(operation, home, { ...own(home), [place]: ABSENT }, body, query)
        expect({ status: absent.status, code: JSON.parse(absent.text).code }).toEqual({ status: 404, code: `${place}_not_found` })
        // The other site, with its own resources and with ours.
        expect(await seen(operation, home, own(other), body, query)).toEqual(absent)
        expect(await seen(operation, home, { ...own(home), [place]: own(other)[place] }, body, query)).toEqual(absent)
        if (thing === undefined || operation.gate.deleted) continue
        // Ids of shields are per site, so both first shields have the same id.
        if (other.ids[thing] === home.ids[thing]) continue
        // Our own site with a resource of the other.
        const missing = await seen(operation, home, { ...own(home), [thing]: absentOf(thing) }, body, query)
        expect({ status: missing.status, isNamed: JSON.parse(missing.text).code.endsWith("_not_found") }).toEqual({
          status: 404,
          isNamed: true,
        })
        expect(await seen(operation, home, { ...own(home), [thing]: other.ids[thing]! }, body, query)).toEqual(missing)
      }
    }
    expect(await leavesAll(world, tryAll)).toBe(true)
  },
  ALL ? 600_000 : 20_000,
)

// Bodies that name a resource of another organization; the response must not reveal whether it exists.
const NAMING: Readonly<Record<string, (other: Home, home: Home) => unknown>> = {
  "POST /sites/{site}/transfer": ({ scene }) => ({ organization_id: scene.organization }),
  "POST /organizations/{organization}/transfer-ownership": ({ owner }) => ({ user_id: owner.id }),
  "POST /organizations/{organization}/members/invite": ({ scene }) => ({ email: "x@example.com", role: "guest", site_ids: [scene.site] }),
  "POST /organizations/{organization}/api-keys": ({ scene }) => ({
    ...{ name: "K", scopes: ["stats:read"], site_access: "list" },
    site_ids: [scene.site],
  }),
  "PATCH /organizations/{organization}/api-keys/{api_key_id}": ({ scene }) => ({ site_access: "list", site_ids: [scene.site] }),
  "POST /me/leave": ({ scene }) => ({ organization_id: scene.organization }),
  "POST /sites/{site}/stats/funnel": ({ ids }) => ({ funnel_id: ids.funnel_id }),
  "PATCH /organizations/{organization}": ({ owner }) => ({ policy: { break_glass_user_ids: [owner.id] } }),
  "POST /sites/{site}/shares": ({ ids }) => ({
    name: "S",
    locked_filters: [{ dimension: "segment", operator: "is", values: [String(ids.segment_id)] }],
  }),
}

test.each(Object.entries(NAMING))(
  "%s rejects an id of another organization in its body",
  async (name, bodyFor) => {
    const operation = world.operations.find((one) => shortName(one) === name)!
    const absentHome = (like: Home): Home => ({
      ...like,
      owner: { ...like.owner, id: ABSENT },
      scene: { ...like.scene, site: ABSENT, organization: ABSENT },
      ids: Object.fromEntries(Object.keys(like.ids).map((id) => [id, ABSENT])),
    })
    const tryAll = async () => {
      for (const [home, other] of pairsFor(operation)) {
        const own = { ...home.ids, site: home.scene.site, organization: home.scene.organization }
        const theirs = await seen(operation, home, own, bodyFor(other, home), undefined)
        expect(theirs.status).toBeGreaterThanOrEqual(400)
        expect(theirs).toEqual(await seen(operation, home, own, bodyFor(absentHome(other), home), undefined))
        expect(strangeMarkers(theirs.text, home)).toEqual([])
      }
    }
    expect(await leavesAll(world, tryAll)).toBe(true)
  },
  60_000,
)

test("no list, report or document of one organization contains a text of another", async () => {
  // Redirects show nothing themselves.
  const reads = world.operations.filter(
    ({ method, gate, answers }) => method === "GET" && gate.ask !== "instance_admin" && gate.ask !== "open" && !("303" in answers),
  )
  let own = 0
  for (const operation of reads)
    for (const home of homes.filter(({ index }) => isReader(index))) {
      const ids = { ...home.ids, site: home.scene.site, organization: home.scene.organization }
      const hasThings = operation.ids.some((id) => id in home.ids)
      const { query, refused } = hasThings ? {} : await preparedCall(operation, home.scene)
      const { status, text } = await seen(operation, home, ids, undefined, query)
      const name = shortName(operation)
      // The sites recognize visitors for a day, so reports over a longer time are refused.
      if (status === 422 && text.includes('"identity_insufficient"')) continue
      if (!refused) expect({ name, status, text: status < 300 ? "" : text }).toEqual({ name, status: 200, text: "" })
      expect({ name, strange: strangeMarkers(text, home) }).toEqual({ name, strange: [] })
      own += [...text.matchAll(MARKER)].length
    }
  // Verifies that the markers are visible at all.
  expect(own).toBeGreaterThan(50)
}, 60_000)
