import { type TObject, type TSchema, type TUnsafe, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { ErrorCode } from "../../domain/error.ts"
import type { Scope } from "../../domain/key.ts"
import { API } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import { etagOf, type Versioned } from "../../domain/version.ts"
import { readJsonAsSent, type SentJson } from "../../plugin/body.ts"
import type { Call } from "../../plugin/guard.ts"
import { type Listing, pageOf, parseListing } from "../../services/listing.ts"
import type { SiteThings } from "../../services/site-things.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { type Detail, told } from "../openapi/route.ts"
import { expectedVersions } from "./conditions.ts"
import type { creation } from "./creation.ts"
import { toolParameters } from "./parameters.ts"

/** The body of a write, which the service judges; what it should be stands in the documents. The library has no schema for it. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })

/** What an operation takes, for the documents. */
export const takes = (schema: TSchema): Pick<Detail, "requestBody"> => ({
  requestBody: { required: true, content: { "application/json": { schema } } },
})

/** The same for a change, which takes some of it. */
export function takesSome(whole: TObject): Pick<Detail, "requestBody"> {
  const schema = t.Partial(whole, { title: `${whole.title}`.replace("Input", "Patch") })
  return { requestBody: { required: true, content: { "application/json": { schema }, "application/merge-patch+json": { schema } } } }
}

/** The parser of the list judges them, so that all that is wrong is said at once. */
const { search: SEARCH, ...LIST } = toolParameters("list_sites")
export const ListQuery = LIST
export const SearchQuery = { ...LIST, search: SEARCH! }

export const Listed = <Row extends TSchema>(row: Row) =>
  t.Object(
    {
      data: t.Array(row),
      has_more: t.Boolean(),
      next_cursor: t.Optional(t.String({ description: "Present when more follows: the parameter cursor of the next page" })),
    },
    { title: `${row.title}List`, description: "A page of a list, by id ascending" },
  )

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
  /** What a second one of the same name is answered. */
  taken?: ErrorCode
  shown: TSchema
  show(thing: Thing, site: Site): object
  /** Lists that can be asked for a part. */
  listed?: { kind: "dated"; query: Record<string, TSchema>; read(site: Site, listing: Listing): Promise<Thing[]> }
}

const WORDS: Readonly<Record<string, string>> = { create: "Create", get: "Read", update: "Change", delete: "Delete" }

/** List, create, read, change and delete: the same rules for every kind of thing that people define on a site. */
export function thingRoutes<Thing extends Versioned & { id: number }>(
  auth: ApiKeyAuth,
  create: ReturnType<typeof creation>,
  { path, noun, read, write, things, input, taken, shown, show, listed }: Kind<Thing>,
) {
  const named = { finds: (site: Site, { params }: Call) => things.get(site, params.id) }
  const listName = (site: Site) => `${path}/${site.id}`
  const article = /^[aeiou]/.test(noun) ? "an" : "a"
  const says = (verb: string, summary = `${WORDS[verb]} ${article} ${noun}`, things: string = noun) => ({
    operationId: `${verb}${things[0]!.toUpperCase()}${things.slice(1)}`,
    summary,
    tags: [path],
  })
  const conflicts: Pick<Detail, "x-failures"> = taken ? { "x-failures": [taken] } : {}

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
        detail: told(says("list", `List ${path}`, path)),
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
        detail: told({ ...says("create"), ...takes(input), ...conflicts }),
      },
    )
    .get(
      "/:id",
      async ({ site, params, set }) => {
        const thing = await things.get(site, params.id)
        set.headers.etag = etagOf(thing)
        return show(thing, site)
      },
      { siteScope: { scopes: read, ...named }, query: NoQuery, response: { 200: shown }, detail: told(says("get")) },
    )
    .patch(
      "/:id",
      async ({ site, params, body, request, set }) => {
        const thing = await things.update(site, params.id, body.value, { expected: expectedVersions(request) })
        set.headers.etag = etagOf(thing)
        return show(thing, site)
      },
      {
        siteScope: { ...writes(write), ...named },
        query: NoQuery,
        body: Sent,
        response: { 200: shown },
        detail: told({ ...says("update"), ...takesSome(input), ...conflicts }),
      },
    )
    .delete(
      "/:id",
      async ({ site, params, request, status }) => {
        await things.remove(site, params.id, { expected: expectedVersions(request) })
        return status(204, undefined)
      },
      { siteScope: { scopes: write, ...named }, query: NoQuery, detail: told(says("delete")) },
    )
}
