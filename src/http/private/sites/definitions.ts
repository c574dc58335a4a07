import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { AnnotationInput, ScopedAnnotationResponse } from "../../../domain/annotation.ts"
import { FunnelInput, OwnFunnelResponse } from "../../../domain/funnel.ts"
import { GoalInput, GoalSuggestions, GoalTrial, OwnGoalResponse } from "../../../domain/goal.ts"
import { instantText } from "../../../domain/moment.ts"
import { ScopeInput, type Segment, SegmentInput, SegmentResponse } from "../../../domain/segment.ts"
import type { Annotations } from "../../../services/definitions/annotations.ts"
import type { Funnels } from "../../../services/definitions/funnels.ts"
import type { Goals } from "../../../services/definitions/goals.ts"
import type { Segments, ViewedSegments } from "../../../services/definitions/segments.ts"
import type { GoalTrials } from "../../../services/stats/goal-trials.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery, parameter, Sent, takes } from "../../public/requests.ts"
import { toAnnotationResponse, toFunnelResponse, toGoalResponse } from "../../public/shown.ts"
import { privateThingRoutes, type ThingRoutesOptions } from "./things.ts"

export interface GoalRoutesOptions extends ThingRoutesOptions {
  goals: Goals
  goalTrials: GoalTrials
}

/** The goals of a site, what one would have counted, and which ones the events seen so far suggest. */
export const privateGoalRoutes = (router: PrivateRouter, options: GoalRoutesOptions) => [
  goalTrialRoutes(router, options),
  privateThingRoutes(router, options, {
    path: "goals",
    noun: "goal",
    write: "goals:write",
    things: () => options.goals,
    input: GoalInput,
    shown: OwnGoalResponse,
    show: toGoalResponse,
    label: ({ name }) => name,
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

export interface FunnelRoutesOptions extends ThingRoutesOptions {
  funnels: Funnels
}

/** The saved funnels of a site. Their reports are among the statistics. */
export const privateFunnelRoutes = (router: PrivateRouter, options: FunnelRoutesOptions) =>
  privateThingRoutes(router, options, {
    path: "funnels",
    noun: "funnel",
    write: "funnels:write",
    things: () => options.funnels,
    input: FunnelInput,
    shown: OwnFunnelResponse,
    show: toFunnelResponse,
    label: ({ name }) => name,
  })

export interface SegmentRoutesOptions extends ThingRoutesOptions {
  segments: Segments
}

/** Creates the routes for segments: shared ones and personal ones of the caller. Personal segments only need `site:read`. */
export const privateSegmentRoutes = (router: PrivateRouter, options: SegmentRoutesOptions) =>
  privateThingRoutes<Segment>(router, options, {
    path: "segments",
    noun: "segment",
    write: "site:read",
    things: (viewer) => options.segments.of(viewer),
    input: SegmentInput,
    shown: SegmentResponse,
    show: toSegmentResponse,
    label: ({ name }) => name,
    removal: {
      query: t.Object({ force: parameter({ type: "boolean" }) }, { additionalProperties: false }),
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

export interface AnnotationRoutesOptions extends ThingRoutesOptions {
  annotations: Annotations
}

/** Creates the routes for annotations: those shared on the site and personal ones of the caller. */
export const privateAnnotationRoutes = (router: PrivateRouter, { annotations, ...options }: AnnotationRoutesOptions) =>
  privateThingRoutes(router, options, {
    path: "annotations",
    noun: "annotation",
    write: "site:read",
    things: (viewer) => annotations.of(viewer),
    input: t.Object({ ...AnnotationInput.properties, scope: t.Optional(ScopeInput) }, { title: "ScopedAnnotationInput" }),
    shown: ScopedAnnotationResponse,
    show: (annotation, site) => ({
      ...toAnnotationResponse(annotation, site),
      scope: annotation.scope,
      owner: annotation.owner_user_id,
    }),
    label: ({ text }) => text,
    listWithin: (viewer, site, days, slice) => annotations.of(viewer).listWithin(site, days, slice),
  })
