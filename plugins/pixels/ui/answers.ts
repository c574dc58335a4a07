/** Description of pixels for the shared pages, their labels, and the queries that fetch them. */
import { type AreaItems, areaQueries } from "#plugin/ui"
import type { PixelKind } from "../pixel.ts"
import type { PixelResponse } from "../responses.ts"

export const PIXELS: AreaItems<PixelResponse> = {
  ...{ path: "pixels", noun: "pixel", plural: "pixels", permission: "pixels:write" },
  nameOf: ({ name }) => name,
  isArchived: ({ archived }) => archived,
}

export const { useSiteQuery } = areaQueries(PIXELS.path)

export const KIND_LABELS: Readonly<Record<PixelKind, string>> = {
  email: "Email",
  rss: "Feed",
  readme: "README",
  page: "Someone else's page",
}
