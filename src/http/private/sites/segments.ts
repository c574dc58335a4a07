import { Type as t } from "@sinclair/typebox"
import { instantText } from "../../domain/moment.ts"
import { ScopeInput, type Segment, SegmentInput } from "../../domain/segment.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Segments, ViewedSegments } from "../../services/segments.ts"
import { parameter } from "../public/parameters.ts"
import { Id, Instant } from "./tagged.ts"
import { privateThingRoutes, type ThingRoutesOptions } from "./things.ts"

export interface SegmentRoutesOptions extends ThingRoutesOptions {
  segments: Segments
}

const SegmentShown = t.Object(
  {
    id: Id,
    site_id: Id,
    name: t.String(),
    scope: ScopeInput,
    filters: t.Array(t.Any()),
    owner: t.Union([Id, t.Null()]),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: "Segment" },
)

/** Saved filters: those of the site, and the own ones of whoever looks. Personal ones need no more than `site:read`. */
export const privateSegmentRoutes = (router: PrivateRouter, options: SegmentRoutesOptions) =>
  privateThingRoutes<Segment>(router, options, {
    path: "segments",
    noun: "segment",
    write: "site:read",
    things: (viewer) => options.segments.of(viewer),
    input: SegmentInput,
    shown: SegmentShown,
    show: shownSegment,
    label: ({ name }) => name,
    removal: {
      query: t.Object({ force: parameter({ type: "boolean" }) }, { additionalProperties: false }),
      remove: (things, site, id, terms, { force }) => (things as ViewedSegments).remove(site, id, { ...terms, force: force === "true" }),
    },
  })

const shownSegment = ({ id, site_id, name, scope, filters, owner_user_id, created_at, updated_at }: Segment) => ({
  id,
  site_id,
  name,
  scope,
  filters: [...filters],
  owner: owner_user_id,
  created_at: instantText(created_at),
  updated_at: instantText(updated_at),
})
