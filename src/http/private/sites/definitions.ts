import { type TObject, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { AnnotationInput, formatScopedAnnotation, ScopedAnnotationResponse } from "../../../domain/annotation.ts"
import type { ErrorCode } from "../../../domain/error.ts"
import { FunnelInput, OwnFunnelResponse } from "../../../domain/funnel.ts"
import { GoalInput, GoalSuggestions, GoalTrial, OwnGoalResponse } from "../../../domain/goal.ts"
import { instantText } from "../../../domain/moment.ts"
import { Listed } from "../../../domain/response.ts"
import { ScopeInput, type Segment, SegmentInput, SegmentResponse } from "../../../domain/segment.ts"
import type { Site } from "../../../domain/site.ts"
import { bodyVersion, etagOf, type Versioned } from "../../../domain/version.ts"
import { type Audit, definitionEntry, type NamedDefinition, recorded } from "../../../services/audit/audit.ts"
import type { Annotations, Days } from "../../../services/definitions/annotations.ts"
import type { Funnels, Goals } from "../../../services/definitions/goals.ts"
import { readDays } from "../../../services/definitions/listing.ts"
import type { Segments, ViewedSegments } from "../../../services/definitions/segments.ts"
import type { SiteThings, Terms, Viewer } from "../../../services/definitions/site-things.ts"
import { privatePage, readPaging } from "../../../services/lists/paging.ts"
import type { GoalTrials } from "../../../services/stats/goal-trials.ts"
import { readNothing } from "../../../web/body.ts"
import type { Admitted, PrivateRouter } from "../../../web/router.ts"
import { type creation, expectedVersions, NoQuery, parameter, Sent, takes, takesSome } from "../../public/requests.ts"
import { toFunnelResponse, toGoalResponse } from "../../public/responses.ts"
import { ListQuery, refuses, withETag } from "../responses.ts"

export interface GoalRoutesOptions extends DefinitionRoutesOptions {
  goals: Goals
  goalTrials: GoalTrials
}

/** Creates the routes for goals: the goals of a site, previews of their conversions, and suggestions from recent events. */
export const privateGoalRoutes = (router: PrivateRouter, options: GoalRoutesOptions) => [
  goalTrialRoutes(router, options),
  privateDefinitionRoutes(router, options, {
    path: "goals",
    noun: "goal",
    write: "goals:write",
    things: () => options.goals,
    input: GoalInput,
    schema: OwnGoalResponse,
    toResponse: toGoalResponse,
  }),
]

const goalTrialRoutes = (router: PrivateRouter, { goalTrials }: GoalRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/goals" })
    .use(router)
    .post("/test", ({ site, body, request }) => goalTrials.test(site, body.value, request.signal), {
      can: { permission: "site:read", reads: true },
      query: NoQuery,
      body: Sent,
      response: { 200: GoalTrial },
      detail: { summary: "Preview the conversions of a goal", tags: ["goals"], ...takes(GoalInput) },
    })
    .get("/suggestions", ({ site, request }) => goalTrials.suggestions(site, request.signal), {
      can: "site:read",
      query: NoQuery,
      response: { 200: GoalSuggestions },
      detail: { summary: "List goals suggested by recent events", tags: ["goals"] },
    })

export interface FunnelRoutesOptions extends DefinitionRoutesOptions {
  funnels: Funnels
}

/** Creates the routes for saved funnels. Their reports belong to the routes for statistics. */
export const privateFunnelRoutes = (router: PrivateRouter, options: FunnelRoutesOptions) =>
  privateDefinitionRoutes(router, options, {
    path: "funnels",
    noun: "funnel",
    write: "funnels:write",
    things: () => options.funnels,
    input: FunnelInput,
    schema: OwnFunnelResponse,
    toResponse: toFunnelResponse,
  })

export interface SegmentRoutesOptions extends DefinitionRoutesOptions {
  segments: Segments
}

/** Creates the routes for segments: shared ones and personal ones of the caller. Personal segments only need `site:read`. */
export const privateSegmentRoutes = (router: PrivateRouter, options: SegmentRoutesOptions) =>
  privateDefinitionRoutes<Segment>(router, options, {
    path: "segments",
    noun: "segment",
    write: "site:read",
    things: (viewer) => options.segments.of(viewer),
    input: SegmentInput,
    schema: SegmentResponse,
    toResponse: toSegmentResponse,
    removal: {
      query: t.Object(
        { force: parameter({ type: "boolean", description: "Whether to delete a segment that other items use. Default: false." }) },
        { additionalProperties: false },
      ),
      remove: (things, site, id, terms, { force }) => (things as ViewedSegments).remove(site, id, { ...terms, force: force === "true" }),
    },
  })

const toSegmentResponse = ({ id, site_id, name, scope, filters, owner_user_id, created_at, updated_at }: Segment) => ({
  id,
  site_id,
  name,
  scope,
  filters: [...filters],
  owner: owner_user_id,
  created_at: instantText(created_at),
  updated_at: instantText(updated_at),
})

export interface AnnotationRoutesOptions extends DefinitionRoutesOptions {
  annotations: Annotations
}

/** Creates the routes for annotations: those shared on the site and personal ones of the caller. */
export const privateAnnotationRoutes = (router: PrivateRouter, { annotations, ...options }: AnnotationRoutesOptions) =>
  privateDefinitionRoutes(router, options, {
    path: "annotations",
    noun: "annotation",
    write: "site:read",
    things: (viewer) => annotations.of(viewer),
    input: t.Object({ ...AnnotationInput.properties, scope: t.Optional(ScopeInput) }, { title: "ScopedAnnotationInput" }),
    schema: ScopedAnnotationResponse,
    toResponse: formatScopedAnnotation,
    listWithin: (viewer, site, days, slice) => annotations.of(viewer).listWithin(site, days, slice),
  })

export interface DefinitionRoutesOptions {
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
export interface PrivateDefinitionKind<Thing> {
  /** Path segment of the items, and their singular for documentation and audit log. */
  path: "goals" | "funnels" | "segments" | "annotations"
  noun: string
  /** Permission for writes. If it depends on the content: the minimum. */
  write: string
  things(viewer: Viewer): SiteThings<Thing>
  input: TObject
  /** Schema of an item with its version. */
  schema: TObject
  toResponse(thing: Thing, site: Site): object
  /** Lists that support a range of days. */
  listWithin?(viewer: Viewer, site: Site, days: Days, slice: { after: number; limit: number }): Promise<Thing[]>
  removal?: { query: TObject; remove: Removal<Thing> }
}

const viewerOf = ({ user, permissions }: { user: { id: number }; permissions: ReadonlySet<string> }): Viewer => ({
  userId: user.id,
  permissions,
})

/** Creates the routes to list, create, get, update and delete one kind of item. All kinds follow the same rules. */
export function privateDefinitionRoutes<Thing extends Versioned & NamedDefinition>(
  router: PrivateRouter,
  { create, audit }: DefinitionRoutesOptions,
  { path, noun, write, things, input, schema, toResponse, listWithin, removal }: PrivateDefinitionKind<Thing>,
) {
  const versioned = (thing: Thing, site: Site) => ({ ...toResponse(thing, site), version: thing.version })
  const find = (params: { id?: string | undefined }, { site, user, permissions }: Admitted) =>
    things(viewerOf({ user: user!, permissions: permissions! })).get(site!, params.id) // routes below a site have all of them
  const article = /^[aeiou]/.test(noun) ? "an" : "a"
  const operation = (verb: "List" | "Create" | "Get" | "Update" | "Delete") => ({
    summary: verb === "List" ? `List ${path}` : `${verb} ${article} ${noun}`,
    tags: [path],
    ...(verb === "List" || verb === "Get" ? {} : refuses(...OWN_FAILURES[path])),
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
      { can: "site:read", query: ListQuery, response: { 200: Listed(schema) }, detail: operation("List") },
    )
    .post(
      "",
      ({ site, user, permissions, actor, ...call }) =>
        create<Thing, object>(
          { ...call, user },
          (body, also) =>
            things(viewerOf({ user, permissions })).create(
              site,
              body,
              recorded<Thing>(audit, actor, definitionEntry("create", noun, site), also),
            ),
          (thing) => ({
            location: `/api/private/sites/${site.id}/${path}/${thing.id}`,
            etag: etagOf(thing),
            body: versioned(thing, site),
          }),
        ),
      { can: write, query: NoQuery, body: Sent, response: { 201: schema }, detail: { ...operation("Create"), ...takes(input) } },
    )
    .get(
      "/:id",
      async ({ site, user, permissions, params, set }) => {
        const thing = await things(viewerOf({ user, permissions })).get(site, params.id)
        return withETag(set, thing, versioned(thing, site))
      },
      { can: "site:read", query: NoQuery, response: { 200: schema }, detail: operation("Get") },
    )
    .patch(
      "/:id",
      async ({ site, user, permissions, params, body, actor, request, set }) => {
        const { version, patch } = bodyVersion(body.value)
        const thing = await things(viewerOf({ user, permissions })).update(site, params.id, patch, {
          expected: expectedVersions(request),
          named: { version, current: (now) => versioned(now, site) },
          alongside: recorded<Thing>(audit, actor, definitionEntry("update", noun, site)),
        })
        return withETag(set, thing, versioned(thing, site))
      },
      { can: writes, query: NoQuery, body: Sent, response: { 200: schema }, detail: { ...operation("Update"), ...takesSome(input) } },
    )
    .delete(
      "/:id",
      async ({ site, user, permissions, params, query, actor, request, status }) => {
        const terms = {
          expected: expectedVersions(request),
          alongside: recorded<Thing>(audit, actor, definitionEntry("delete", noun, site)),
        }
        const visible = things(viewerOf({ user, permissions }))
        if (removal) await removal.remove(visible, site, params.id, terms, query)
        else await visible.remove(site, params.id, terms)
        return status(204, undefined)
      },
      { can: { ...writes, read: readNothing }, query: removal?.query ?? NoQuery, detail: operation("Delete") },
    )
}

/** Returns the error codes of a kind of item, in addition to version conflicts. */
const OWN_FAILURES: Readonly<Record<PrivateDefinitionKind<unknown>["path"], readonly ErrorCode[]>> = {
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
