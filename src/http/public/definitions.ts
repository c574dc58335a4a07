import { type TObject, type TSchema, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { AnnotationInput, AnnotationResponse, formatAnnotation } from "../../domain/annotation.ts"
import type { AuditEntry } from "../../domain/audit.ts"
import type { ErrorCode } from "../../domain/error.ts"
import { FunnelInput, FunnelResponse } from "../../domain/funnel.ts"
import { GoalInput, GoalResponse } from "../../domain/goal.ts"
import type { ApiKey, Scope } from "../../domain/key.ts"
import { FunnelReport } from "../../domain/report.ts"
import type { Site } from "../../domain/site.ts"
import { etagOf, type Versioned } from "../../domain/version.ts"
import { type Audit, definitionEntry, type NamedDefinition, recorded } from "../../services/audit/audit.ts"
import type { Annotations } from "../../services/definitions/annotations.ts"
import type { Funnels, Goals } from "../../services/definitions/goals.ts"
import { type Listing, pageOf, parseListing } from "../../services/definitions/listing.ts"
import type { Alongside, SiteThings } from "../../services/definitions/site-things.ts"
import type { Stats } from "../../services/stats/stats.ts"
import { readNothing } from "../../web/body.ts"
import type { Call } from "../../web/guard.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { type Detail, describeRoute } from "../openapi/route.ts"
import { type creation, expectedVersions, Listed, ListQuery, NoQuery, parameter, Sent, takes, takesSome, writes } from "./requests.ts"
import { toFunnelResponse, toGoalResponse } from "./responses.ts"
import { parameters, RANGED, reportOptions } from "./stats.ts"

/** Creates the routes for goals. Goals are evaluated over stored events, so a new goal applies to past data, too. */
export const goalRoutes = (kit: DefinitionKit, goals: Goals) =>
  definitionRoutes(kit, {
    path: "goals",
    noun: "goal",
    read: ["goals:read", "stats:read"],
    write: ["goals:write"],
    things: goals,
    input: GoalInput,
    refuses: ["goal_exists"],
    schema: GoalResponse,
    toResponse: toGoalResponse,
  })

interface FunnelRoutesOptions {
  funnels: Funnels
  stats: Stats
}

/** Creates the routes for saved funnels and their reports. */
export const funnelRoutes = (kit: DefinitionKit, { funnels, stats }: FunnelRoutesOptions) =>
  definitionRoutes(kit, {
    path: "funnels",
    noun: "funnel",
    read: ["funnels:read", "goals:read", "stats:read"],
    write: ["funnels:write", "goals:write"],
    things: funnels,
    input: FunnelInput,
    refuses: ["funnel_exists"],
    schema: FunnelResponse,
    toResponse: toFunnelResponse,
  }).get(
    "/:id/report",
    ({ site, params, query, request }) => stats.funnel(site, query, { ...reportOptions(request), funnelId: Number(params.id) }),
    {
      siteScope: { scopes: ["stats:read"], finds: (site: Site, { params }: Call) => funnels.get(site, params.id) },
      query: parameters(RANGED),
      response: { 200: FunnelReport },
      detail: describeRoute({
        operationId: "getFunnelReport",
        summary: "Get the report of a saved funnel",
        description:
          "Number of visitors who completed step 1, then step 2, and so on. Same object as the result of the MCP tool run_funnel.",
        tags: ["funnels"],
        "x-failures": ["identity_insufficient", "query_timeout"],
      }),
    },
  )

const day = (description: string) => parameter({ type: "string", format: "date", description })

/** Creates the routes for annotations, which everyone with access to the site can see. */
export const annotationRoutes = (kit: DefinitionKit, annotations: Annotations) =>
  definitionRoutes(kit, {
    path: "annotations",
    noun: "annotation",
    read: ["annotations:read"],
    write: ["annotations:write"],
    things: annotations,
    input: AnnotationInput,
    schema: AnnotationResponse,
    toResponse: formatAnnotation,
    listed: {
      kind: "dated",
      query: { from: day("First day in the time zone of the site. Requires `to`."), to: day("Last day, inclusive. Requires `from`.") },
      read: (site, { days, ...slice }) => (days ? annotations.listWithin(site, days, slice) : annotations.list(site, slice)),
    },
  })

/** Parts that the routes of every kind of item share. */
export interface DefinitionKit {
  auth: ApiKeyAuth
  create: ReturnType<typeof creation>
  audit: Audit
}

/** Kind of item that users define on a site, such as goals. */
interface Kind<Thing> {
  /** Path segment of the items, and their singular for the documentation. */
  path: "goals" | "funnels" | "annotations" | "segments" | "shares"
  noun: string
  /** Name of an item for people, if it is not the noun. */
  called?: string
  read: readonly Scope[]
  write: readonly Scope[]
  things: Omit<SiteThings<Thing>, "create"> & {
    create(site: Site, body: unknown, alongside: Alongside<Thing> | undefined, key: ApiKey): Promise<Thing>
  }
  /** Returns the audit entry of a change. Default: that of all definitions. */
  entry?(verb: "create" | "update" | "delete", site: Site): (thing: Thing) => AuditEntry
  input: TObject
  /** Error codes of creations and changes, such as that of a duplicate. */
  refuses?: readonly ErrorCode[]
  /** Error code for the deletion of an item that others refer to. */
  inUse?: ErrorCode
  schema: TSchema
  toResponse(thing: Thing, site: Site): object
  /** List that supports a range of days. */
  listed?: { kind: "dated"; query: Record<string, TSchema>; read(site: Site, listing: Listing): Promise<Thing[]> }
}

const WORDS: Readonly<Record<string, string>> = { create: "Create", get: "Get", update: "Update", delete: "Delete" }

/** Creates the routes to list, create, get, update and delete one kind of item. All kinds follow the same rules. */
export function definitionRoutes<Thing extends Versioned & NamedDefinition>({ auth, create, audit }: DefinitionKit, kind: Kind<Thing>) {
  const { path, noun, called = noun, read, write, things, input, refuses, inUse, schema, toResponse, listed } = kind
  const { entry = (verb, site) => definitionEntry(verb, noun, site) } = kind
  const named = { finds: (site: Site, { params }: Call) => things.get(site, params.id) }
  const listName = (site: Site) => `${path}/${site.id}`
  const article = /^[aeiou]/.test(called) ? "an" : "a"
  const operation = (verb: string, summary = `${WORDS[verb]} ${article} ${called}`, things: string = noun) => ({
    operationId: `${verb}${things[0]!.toUpperCase()}${things.slice(1)}`,
    summary,
    tags: [path],
  })
  const conflicts: Pick<Detail, "x-failures"> = refuses ? { "x-failures": refuses } : {}

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
        return { ...page, data: page.data.map((thing) => toResponse(thing, site)) }
      },
      {
        siteScope: { scopes: read },
        query: t.Object({ ...ListQuery, ...listed?.query }, { additionalProperties: true }),
        response: { 200: Listed(schema) },
        detail: describeRoute(operation("list", `List ${called}s`, path)),
      },
    )
    .post(
      "",
      ({ site, actor, ...call }) =>
        create<Thing, object>(
          call,
          (body, also) => things.create(site, body, recorded(audit, actor, entry("create", site), also), call.apiKey),
          (thing) => ({
            location: `/api/public/v1/sites/${site.id}/${path}/${thing.id}`,
            etag: etagOf(thing),
            body: toResponse(thing, site),
          }),
        ),
      {
        siteScope: writes(write),
        query: NoQuery,
        body: Sent,
        response: { 201: schema },
        detail: describeRoute({ ...operation("create"), ...takes(input), ...conflicts }),
      },
    )
    .get(
      "/:id",
      async ({ site, params, set }) => {
        const thing = await things.get(site, params.id)
        set.headers.etag = etagOf(thing)
        return toResponse(thing, site)
      },
      { siteScope: { scopes: read, ...named }, query: NoQuery, response: { 200: schema }, detail: describeRoute(operation("get")) },
    )
    .patch(
      "/:id",
      async ({ site, params, body, request, set, actor }) => {
        const thing = await things.update(site, params.id, body.value, {
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, entry("update", site)),
        })
        set.headers.etag = etagOf(thing)
        return toResponse(thing, site)
      },
      {
        siteScope: { ...writes(write), ...named },
        query: NoQuery,
        body: Sent,
        response: { 200: schema },
        detail: describeRoute({ ...operation("update"), ...takesSome(input), ...conflicts }),
      },
    )
    .delete(
      "/:id",
      async ({ site, params, request, status, actor }) => {
        const alongside = recorded(audit, actor, entry("delete", site))
        await things.remove(site, params.id, { expected: expectedVersions(request), alongside })
        return status(204, undefined)
      },
      {
        siteScope: { scopes: write, ...named, read: readNothing },
        query: NoQuery,
        detail: describeRoute({ ...operation("delete"), ...(inUse && { "x-failures": [inUse] }) }),
      },
    )
}
