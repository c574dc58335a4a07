import { Type as t } from "@sinclair/typebox"
import { instantText } from "../../../domain/moment.ts"
import { ScopeInput, type Segment, SegmentInput } from "../../../domain/segment.ts"
import type { Segments, ViewedSegments } from "../../../services/definitions/segments.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { parameter } from "../../public/parameters.ts"
import { Id, Instant } from "../tagged.ts"
import { privateThingRoutes, type ThingRoutesOptions } from "./things.ts"

export interface SegmentRoutesOptions extends ThingRoutesOptions {
  segments: Segments
}

const SegmentResponse = t.Object(
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
