import { type TObject, type TSchema, type TUnsafe, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { ErrorCode } from "../../domain/error.ts"
import type { Scope } from "../../domain/key.ts"
import { API } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import { etagOf, type Versioned } from "../../domain/version.ts"
import { type Listing, pageOf, parseListing } from "../../services/definitions/listing.ts"
import type { SiteThings } from "../../services/definitions/site-things.ts"
import { readJsonAsSent, readNothing, type SentJson } from "../../web/body.ts"
import type { Call } from "../../web/guard.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { type Detail, describeRoute } from "../openapi/route.ts"
import { expectedVersions } from "./conditions.ts"
import type { creation } from "./creation.ts"
import { toolParameters } from "./parameters.ts"

/** Body of a write. The service validates it, and the documentation describes it separately. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })

/** Documents the request body of an operation. */
export const takes = (schema: TSchema): Pick<Detail, "requestBody"> => ({
  requestBody: { required: true, content: { "application/json": { schema } } },
})

/** Documents the request body of a change, in which all members are optional. */
export function takesSome(whole: TObject): Pick<Detail, "requestBody"> {
  const schema = t.Partial(whole, { title: `${whole.title}`.replace("Input", "Patch") })
  return { requestBody: { required: true, content: { "application/json": { schema }, "application/merge-patch+json": { schema } } } }
}

// The list parser validates these parameters, so that all problems are reported at once.
const { search: SEARCH, ...LIST } = toolParameters("list_sites")
export const ListQuery = LIST
export const SearchQuery = { ...LIST, search: SEARCH! }

export const Listed = <Row extends TSchema>(row: Row) =>
  t.Object(
    {
      data: t.Array(row),
      has_more: t.Boolean(),
      next_cursor: t.Optional(
        t.String({ description: "Value for the parameter `cursor` of the next page. Present only if there are more items." }),
      ),
    },
    { title: `${row.title}List`, description: "Page of a list, sorted by id in ascending order." },
  )

export const writes = (scopes: readonly Scope[]) => ({ scopes, read: readJsonAsSent(API.bodyBytes) })

/** Kind of item that users define on a site, such as goals. */
interface Kind<Thing> {
  /** Path segment of the items, and their singular for the documentation. */
  path: "goals" | "funnels" | "annotations"
  noun: string
  read: readonly Scope[]
  write: readonly Scope[]
  things: SiteThings<Thing>
  input: TObject
  /** Error code for a duplicate. */
  taken?: ErrorCode
  shown: TSchema
  show(thing: Thing, site: Site): object
  /** List that supports a range of days. */
  listed?: { kind: "dated"; query: Record<string, TSchema>; read(site: Site, listing: Listing): Promise<Thing[]> }
}

const WORDS: Readonly<Record<string, string>> = { create: "Create", get: "Get", update: "Update", delete: "Delete" }

/** Creates the routes to list, create, get, update and delete one kind of item. All kinds follow the same rules. */
export function thingRoutes<Thing extends Versioned & { id: number }>(
  auth: ApiKeyAuth,
  create: ReturnType<typeof creation>,
  { path, noun, read, write, things, input, taken, shown, show, listed }: Kind<Thing>,
) {
  const named = { finds: (site: Site, { params }: Call) => things.get(site, params.id) }
  const listName = (site: Site) => `${path}/${site.id}`
  const article = /^[aeiou]/.test(noun) ? "an" : "a"
  const operation = (verb: string, summary = `${WORDS[verb]} ${article} ${noun}`, things: string = noun) => ({
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
        detail: describeRoute(operation("list", `List ${path}`, path)),
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
        detail: describeRoute({ ...operation("create"), ...takes(input), ...conflicts }),
      },
    )
    .get(
      "/:id",
      async ({ site, params, set }) => {
        const thing = await things.get(site, params.id)
        set.headers.etag = etagOf(thing)
        return show(thing, site)
      },
      { siteScope: { scopes: read, ...named }, query: NoQuery, response: { 200: shown }, detail: describeRoute(operation("get")) },
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
        detail: describeRoute({ ...operation("update"), ...takesSome(input), ...conflicts }),
      },
    )
    .delete(
      "/:id",
      async ({ site, params, request, status }) => {
        await things.remove(site, params.id, { expected: expectedVersions(request) })
        return status(204, undefined)
      },
      { siteScope: { scopes: write, ...named, read: readNothing }, query: NoQuery, detail: describeRoute(operation("delete")) },
    )
}
