import { type TObject, type TSchema, type TUnsafe, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Scope } from "../../domain/key.ts"
import { API } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import { etagOf, type Versioned } from "../../domain/version.ts"
import { readJsonAsSent, type SentJson } from "../../plugin/body.ts"
import { type Listing, pageOf, parseListing } from "../../services/listing.ts"
import type { SiteThings } from "../../services/site-things.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { expectedVersions } from "./conditions.ts"
import type { creation } from "./creation.ts"

/** The body of a write, which the service judges; what it should be stands in the documents. The library has no schema for it. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })

/** What an operation takes, for the documents. */
export const takes = (schema: TSchema) => ({ requestBody: { required: true, content: { "application/json": { schema } } } })

const text = (description: string) => t.Optional(t.String({ description }))
/** The parser of the list judges them, so that all that is wrong is said at once. */
export const ListQuery = { limit: text("1 to 100; default 50"), cursor: text("next_cursor of the page before") }

export const Listed = <Row extends TSchema>(row: Row) =>
  t.Object({ data: t.Array(row), has_more: t.Boolean(), next_cursor: t.Optional(t.String()) })

export const writes = (scopes: readonly Scope[]) => ({ scopes, read: readJsonAsSent(API.bodyBytes) })

/** One kind of thing of a site. */
interface Kind<Thing> {
  /** As the path calls them, and one of them in the documents. */
  path: "goals" | "funnels" | "annotations"
  noun: string
  read: readonly Scope[]
  write: readonly Scope[]
  things: SiteThings<Thing>
  input: TObject
  shown: TSchema
  show(thing: Thing, site: Site): object
  /** Lists that can be asked for a part. */
  listed?: { kind: "dated"; query: Record<string, TSchema>; read(site: Site, listing: Listing): Promise<Thing[]> }
}

/** List, create, read, change and delete: the same rules for every kind of thing that people define on a site. */
export function thingRoutes<Thing extends Versioned & { id: number }>(
  auth: ApiKeyAuth,
  create: ReturnType<typeof creation>,
  { path, noun, read, write, things, input, shown, show, listed }: Kind<Thing>,
) {
  const listName = (site: Site) => `${path}/${site.id}`
  const says = (does: string) => ({ summary: `${does} ${noun}`, tags: [path] })

  return new Elysia({ prefix: `/api/public/v1/sites/:site_id/${path}` })
    .use(auth)
    .get(
      "",
      async ({ site, query }) => {
        const listing = parseListing(listName(site), query, listed?.kind)
        const readRows = listed
          ? (slice: Listing) => listed.read(site, { ...listing, ...slice })
          : (slice: Listing) => things.list(site, slice)
        const page = await pageOf(listName(site), listing, readRows)
        return { ...page, data: page.data.map((thing) => show(thing, site)) }
      },
      {
        siteScope: { scopes: read },
        query: t.Object({ ...ListQuery, ...listed?.query }, { additionalProperties: true }),
        response: { 200: Listed(shown) },
        detail: { summary: `List ${path}`, tags: [path] },
      },
    )
    .post(
      "",
      ({ site, ...call }) =>
        create<Thing, object>(
          call,
          (body, alongside) => things.create(site, body, alongside),
          (thing) => ({
            location: `/api/public/v1/sites/${site.id}/${path}/${thing.id}`,
            etag: etagOf(thing),
            body: show(thing, site),
          }),
        ),
      {
        siteScope: writes(write),
        query: NoQuery,
        body: Sent,
        response: { 201: shown },
        detail: { ...says("Create a"), ...takes(input) },
      },
    )
    .get(
      "/:id",
      async ({ site, params, set }) => {
        const thing = await things.get(site, params.id)
        set.headers.etag = etagOf(thing)
        return show(thing, site)
      },
      { siteScope: { scopes: read }, query: NoQuery, response: { 200: shown }, detail: says("Read a") },
    )
    .patch(
      "/:id",
      async ({ site, params, body, request, set }) => {
        const thing = await things.update(site, params.id, body.value, expectedVersions(request))
        set.headers.etag = etagOf(thing)
        return show(thing, site)
      },
      {
        siteScope: writes(write),
        query: NoQuery,
        body: Sent,
        response: { 200: shown },
        detail: { ...says("Change a"), ...takes(t.Partial(input)) },
      },
    )
    .delete(
      "/:id",
      async ({ site, params, request, status }) => {
        await things.remove(site, params.id, expectedVersions(request))
        return status(204, undefined)
      },
      { siteScope: { scopes: write }, query: NoQuery, detail: says("Delete a") },
    )
}
