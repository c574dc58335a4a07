import type { TObject } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { ErrorCode } from "../../../domain/error.ts"
import { Listed } from "../../../domain/response.ts"
import type { Site } from "../../../domain/site.ts"
import { etagOf, type Versioned } from "../../../domain/version.ts"
import { type Audit, recorded } from "../../../services/audit/audit.ts"
import { definitionEntry } from "../../../services/audit/entries.ts"
import type { Days } from "../../../services/definitions/annotations.ts"
import { readDays } from "../../../services/definitions/listing.ts"
import type { SiteThings, Terms, Viewer } from "../../../services/definitions/site-things.ts"
import { privatePage, readPaging } from "../../../services/lists/paging.ts"
import { readNothing } from "../../../web/body.ts"
import type { Admitted, PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/requests.ts"
import { expectedVersions, NoQuery, Sent, takes, takesSome } from "../../public/requests.ts"
import { bodyVersion } from "../bodies.ts"
import { ListQuery, refuses, tagged } from "../responses.ts"

export interface ThingRoutesOptions {
  create: ReturnType<typeof creation>
  audit: Audit
}

/** Additional query parameters of a deletion. */
type Removal<Thing> = (
  things: SiteThings<Thing>,
  site: Site,
  id: string | undefined,
  terms: Terms<Thing>,
  query: Record<string, unknown>,
) => Promise<void>

/** Kind of item that users define on a site, such as goals. */
export interface PrivateKind<Thing> {
  /** Path segment of the items, and their singular for documentation and audit log. */
  path: "goals" | "funnels" | "segments" | "annotations"
  noun: string
  /** Permission for writes. If it depends on the content: the minimum. */
  write: string
  things(viewer: Viewer): SiteThings<Thing>
  input: TObject
  /** Schema of an item with its version. */
  shown: TObject
  show(thing: Thing, site: Site): object
  /** Returns the name of an item for the audit log. */
  label(thing: Thing): string
  /** Lists that support a range of days. */
  listWithin?(viewer: Viewer, site: Site, days: Days, slice: { after: number; limit: number }): Promise<Thing[]>
  removal?: { query: TObject; remove: Removal<Thing> }
}

const viewerOf = ({ user, permissions }: { user: { id: number }; permissions: ReadonlySet<string> }): Viewer => ({
  userId: user.id,
  permissions,
})

/** Creates the routes to list, create, get, update and delete one kind of item. All kinds follow the same rules. */
export function privateThingRoutes<Thing extends Versioned & { id: number }>(
  router: PrivateRouter,
  { create, audit }: ThingRoutesOptions,
  { path, noun, write, things, input, shown, show, label, listWithin, removal }: PrivateKind<Thing>,
) {
  const versioned = (thing: Thing, site: Site) => ({ ...show(thing, site), version: thing.version })
  const find = (params: { id?: string | undefined }, { site, user, permissions }: Admitted) =>
    things(viewerOf({ user: user!, permissions: permissions! })).get(site!, params.id) // routes below a site have all of them
  const deed = (verb: string, site: Site) => (thing: Thing) =>
    definitionEntry(`sites.${noun}.${verb}`, noun, site)({ id: thing.id, name: label(thing) })
  const operation = (verb: string) => ({
    summary: `${verb} ${noun}`,
    tags: [path],
    ...(verb === "List" || verb === "Read" ? {} : refuses(...OWN_FAILURES[path])),
  })
  const writes = { permission: write, find }

  return new Elysia({ prefix: `/api/private/sites/:site/${path}` })
    .use(router)
    .get(
      "",
      async ({ site, user, permissions, query }) => {
        const viewer = viewerOf({ user, permissions })
        const names = listWithin ? ["from", "to"] : []
        const paging = readPaging(`${path}/${site.id}`, query, names, readDays)
        const read = (limit: number) => {
          const slice = { after: paging.after ?? 0, limit }
          return paging.filters && listWithin ? listWithin(viewer, site, paging.filters, slice) : things(viewer).list(site, slice)
        }
        const page = await privatePage(paging, read, () => countAll(things(viewer), site))
        return { ...page, data: page.data.map((thing) => versioned(thing, site)) }
      },
      { can: "site:read", query: ListQuery, response: { 200: Listed(shown) }, detail: operation("List") },
    )
    .post(
      "",
      ({ site, user, permissions, actor, ...call }) =>
        create<Thing, object>(
          { ...call, user },
          (body, also) =>
            things(viewerOf({ user, permissions })).create(site, body, recorded<Thing>(audit, actor, deed("create", site), also)),
          (thing) => ({
            location: `/api/private/sites/${site.id}/${path}/${thing.id}`,
            etag: etagOf(thing),
            body: versioned(thing, site),
          }),
        ),
      { can: write, query: NoQuery, body: Sent, response: { 201: shown }, detail: { ...operation("Create"), ...takes(input) } },
    )
    .get(
      "/:id",
      async ({ site, user, permissions, params, set }) => {
        const thing = await things(viewerOf({ user, permissions })).get(site, params.id)
        return tagged(set, thing, versioned(thing, site))
      },
      { can: "site:read", query: NoQuery, response: { 200: shown }, detail: operation("Get") },
    )
    .patch(
      "/:id",
      async ({ site, user, permissions, params, body, actor, request, set }) => {
        const { version, patch } = bodyVersion(body.value)
        const thing = await things(viewerOf({ user, permissions })).update(site, params.id, patch, {
          expected: expectedVersions(request),
          named: { version, current: (now) => versioned(now, site) },
          alongside: recorded<Thing>(audit, actor, deed("update", site)),
        })
        return tagged(set, thing, versioned(thing, site))
      },
      { can: writes, query: NoQuery, body: Sent, response: { 200: shown }, detail: { ...operation("Update"), ...takesSome(input) } },
    )
    .delete(
      "/:id",
      async ({ site, user, permissions, params, query, actor, request, status }) => {
        const terms = { expected: expectedVersions(request), alongside: recorded<Thing>(audit, actor, deed("delete", site)) }
        const seen = things(viewerOf({ user, permissions }))
        if (removal) await removal.remove(seen, site, params.id, terms, query)
        else await seen.remove(site, params.id, terms)
        return status(204, undefined)
      },
      { can: { ...writes, read: readNothing }, query: removal?.query ?? NoQuery, detail: operation("Delete") },
    )
}

/** Returns the error codes of a kind of item, in addition to version conflicts. */
const OWN_FAILURES: Readonly<Record<PrivateKind<unknown>["path"], readonly ErrorCode[]>> = {
  goals: ["goal_exists", "precondition_failed"],
  funnels: ["funnel_exists", "precondition_failed"],
  segments: ["segment_in_use", "forbidden", "precondition_failed"],
  annotations: ["forbidden", "precondition_failed"],
}

async function countAll<Thing extends { id: number }>({ list }: Pick<SiteThings<Thing>, "list">, site: Site): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const slice = await list(site, { after, limit: 1_000 })
    count += slice.length
    if (slice.length < 1_000) return count
    after = slice.at(-1)!.id
  }
}
