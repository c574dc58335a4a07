import { type Static, Type as t } from "@sinclair/typebox"
import { AppError } from "./error.ts"
import { THINGS } from "./limits.ts"
import { anyOf, CREATED_AT, field, Id, orNull, UPDATED_AT, versioned } from "./response.ts"
import type { Versioned } from "./version.ts"

/** The possible scopes of an annotation or segment: visible to its owner only, or to everyone with access to the site. */
const THING_SCOPES = ["personal", "site"] as const
export type ThingScope = (typeof THING_SCOPES)[number]
export const ScopeInput = t.Union([t.Literal("personal"), t.Literal("site")], {
  description: "`personal` is visible to you only, `site` to everyone with access to the site. Default: `site`.",
})

/** A filter of the flat form as it is stored. */
export interface SavedFilter {
  dimension: string
  property?: string
  operator?: string
  values: readonly (string | number)[]
}

/** A part of a segment: a filter, or filters of which one must match. */
export type SegmentFilter = SavedFilter | { any: readonly SavedFilter[] }

/** The writable fields of a segment: a saved set of filters. */
export const SegmentInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: THINGS.segmentNameChars, description: "Name of the segment." }),
    scope: t.Optional(ScopeInput),
    filters: t.Array(t.Unknown(), {
      minItems: 1,
      description: "Filters as in statistics requests. The dimensions `segment` and `cohort` are not allowed.",
    }),
  },
  { additionalProperties: false, title: "SegmentInput" },
)
export type SegmentInput = Static<typeof SegmentInput>

/** The writable fields of a segment that belongs to the site, for callers without personal segments. */
export const SiteSegmentInput = t.Object(
  { name: SegmentInput.properties.name, filters: SegmentInput.properties.filters },
  { additionalProperties: false, title: "SiteSegmentInput" },
)

export interface SegmentFields {
  name: string
  scope: ThingScope
  filters: readonly SegmentFilter[]
}

/** A stored segment. Times are epoch milliseconds. */
export interface Segment extends SegmentFields, Versioned {
  id: number
  site_id: number
  /** Null when the user was deleted. */
  owner_user_id: number | null
  created_at: number
  updated_at: number
}

export const SegmentResponse = versioned(
  t.Object(
    {
      id: field.id("Id of the segment."),
      site_id: field.id("Id of the site."),
      name: t.String({ description: "Display name." }),
      scope: ScopeInput,
      filters: t.Array(anyOf<SegmentFilter>(), { description: "Filters as in statistics requests." }),
      owner: orNull(Id, { description: "Id of the user who created the segment. null when the user was deleted." }),
      created_at: CREATED_AT,
      updated_at: UPDATED_AT,
    },
    { title: "Segment" },
  ),
)
export type SegmentResponse = Static<typeof SegmentResponse>

/** A segment as the public API shows it: one of the site, whose owner does not matter. */
export const SiteSegmentResponse = t.Object(
  {
    id: field.id("Id of the segment."),
    site_id: field.id("Id of the site."),
    name: t.String({ description: "Display name." }),
    filters: t.Array(anyOf<SegmentFilter>(), { description: "Filters as in statistics requests." }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: "SiteSegment" },
)

export const segmentNotFound = () =>
  new AppError("segment_not_found", "This segment doesn't exist on this site or you don't have access to it.")
