import { type Static, Type as t } from "@sinclair/typebox"
import { AppError } from "./error.ts"
import { THINGS } from "./limits.ts"
import type { Versioned } from "./version.ts"

/** Whose a thing of a site is: that of one person, or of everybody who may see the site. */
const SCOPES_OF_THINGS = ["personal", "site"] as const
export type ThingScope = (typeof SCOPES_OF_THINGS)[number]
export const ScopeInput = t.Union([t.Literal("personal"), t.Literal("site")], { description: "personal: seen by you alone" })

/** A filter of the flat form as it is kept. */
export interface KeptFilter {
  dimension: string
  property?: string
  operator?: string
  values: readonly (string | number)[]
}

/** What a caller may send of a segment: a saved set of filters. */
export const SegmentInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: THINGS.segmentNameChars }),
    scope: t.Optional(ScopeInput),
    filters: t.Array(t.Unknown(), { minItems: 1, description: "As in the statistics; not of dimension segment or cohort" }),
  },
  { additionalProperties: false, title: "SegmentInput" },
)
export type SegmentInput = Static<typeof SegmentInput>

export interface SegmentFields {
  name: string
  scope: ThingScope
  filters: readonly KeptFilter[]
}

/** Times are epoch milliseconds. */
export interface Segment extends SegmentFields, Versioned {
  id: number
  site_id: number
  /** Null: the user is gone. */
  owner_user_id: number | null
  created_at: number
  updated_at: number
}

export const segmentNotFound = () => new AppError("segment_not_found", "The site has no segment with this id that is visible to you")
