/** Public links of dashboards: their fields and their responses. */
import { type Static, Type as t } from "@sinclair/typebox"
import {
  DEFAULT_TERMS,
  field,
  formatShare,
  instantOrNull,
  orNull,
  SHARE_INPUT,
  SHARE_RESPONSE,
  type ShareState,
  type ShareTerms,
  type Site,
} from "#plugin"
import type { Board } from "../board.ts"
import type { Viewer } from "../data/viewer.ts"
import { oneOf } from "../widgets/core.ts"

export const MAX_SITES = 20
const THEMES = ["auto", "light", "dark"] as const
export type Theme = (typeof THEMES)[number]

/** The fields of a share that people set, without its password. */
export interface BoardShareFields extends ShareTerms {
  /** Further sites of which viewers can choose one. */
  site_ids: readonly number[]
  theme: Theme
  /** Smallest group of visitors that is shown. null for the minimum of the site. */
  min_group: number | null
}

/** A stored share. Times are epoch milliseconds. */
export interface BoardShare extends BoardShareFields, ShareState {
  dashboard_id: number
  created_by: number
  last_viewed_at: number | null
  /** Page loads. */
  views: number
}

/** What a share opens: a dashboard of a site. */
export interface SharedBoard {
  board: Board
  site: Site
  /** Someone who manages the share. Absent when it is opened. */
  author?: Author
}

/** Someone who manages shares. */
export type Author = Pick<Viewer, "accessTo">

export const DEFAULTS: BoardShareFields = { name: "", ...DEFAULT_TERMS, site_ids: [], theme: "auto", min_group: null }

export const Theme = oneOf(THEMES, "Theme of the page. `auto` follows the system. Default: `auto`.")

export const ShareInput = t.Object(
  {
    ...SHARE_INPUT,
    site_ids: t.Optional(
      t.Array(t.Integer({ minimum: 1 }), {
        maxItems: MAX_SITES,
        uniqueItems: true,
        description: "Ids of further sites, of which viewers can choose one. Default: none.",
      }),
    ),
    theme: t.Optional(Theme),
    min_group: t.Optional(
      orNull(t.Integer({ minimum: 1, maximum: 100 }), {
        description: "Smallest group of visitors that is shown. null means that of the site, which is also the minimum. Default: null.",
      }),
    ),
  },
  { additionalProperties: false, title: "DashboardShareInput" },
)
export const SharePatch = t.Partial(ShareInput, { additionalProperties: false, title: "DashboardSharePatch" })

export const ShareResponse = t.Object(
  {
    id: field.id("Id of the share."),
    ...SHARE_RESPONSE,
    site_ids: t.Array(t.Integer(), { description: "Ids of further sites, of which viewers can choose one." }),
    theme: Theme,
    min_group: t.Integer({ minimum: 1, description: "Smallest group of visitors that is shown." }),
    views: t.Integer({ minimum: 0, description: "Number of page loads, written once a minute." }),
    last_viewed_at: orNull(field.instant("Time of the latest page load. null before the first.")),
  },
  { title: "DashboardShare" },
)
export type ShareResponse = Static<typeof ShareResponse>

export const toShareResponse = (share: BoardShare & { slug: string }, site: Site, base: string): ShareResponse => ({
  id: share.id,
  ...formatShare(share, `${base}/share/d/${share.slug}`),
  site_ids: [...share.site_ids],
  theme: share.theme,
  min_group: smallestGroup(share, site),
  views: share.views,
  last_viewed_at: instantOrNull(share.last_viewed_at),
})

/** Returns the smallest group that a share shows. A higher value of the site wins. */
export const smallestGroup = ({ min_group }: Pick<BoardShare, "min_group">, { settings }: Site): number =>
  Math.max(min_group ?? 0, settings.min_group)
