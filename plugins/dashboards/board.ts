import type { Host } from "#plugin"

export type DashboardsHost = Host

export const LIMITS = {
  boards: 50,
  widgets: 30,
  nameChars: 100,
  descriptionChars: 500,
  titleChars: 100,
  columns: 12,
  maxY: 500,
  maxHeight: 12,
  configBytes: 8_192,
  markdownBytes: 10_240,
  /** Sites to which a dashboard is copied at once. */
  targets: 50,
  filters: 10,
} as const

export const REFRESH_SECONDS = [0, 30, 60, 300, 900] as const
export const INTERVALS = ["auto", "hour", "day", "week", "month"] as const

export type Visibility = "private" | "site"

/** What a range is compared with. Days are inclusive. */
export type Compare = "none" | "previous_period" | "previous_year" | { from: string; to: string }

export interface BoardRange {
  period?: string
  from?: string
  to?: string
  compare?: Compare
  interval?: (typeof INTERVALS)[number]
}

/** Name of a goal, funnel or other object that the site does not have. It stands where the id would. */
export interface MissingName {
  name: string
}

/** A filter of the flat form. The values of segments and cohorts are ids, or names that were not found. */
export interface BoardFilter {
  dimension: string
  property?: string
  operator?: string
  values: (string | number | MissingName)[]
}

export type Config = Record<string, unknown>

/** A widget as it is stored. */
export interface StoredWidget {
  id: number
  type: string
  title: string
  x: number
  y: number
  w: number
  h: number
  /** Site whose figures are shown instead of those of the dashboard's site. */
  source_site_id: number | null
  /** Name of that site if it was not found when the dashboard was imported; empty if its name is not known. */
  source_site_name: string | null
  config: Config
}
export type NewWidget = Omit<StoredWidget, "id"> & { id?: number }

/** The fields of a dashboard that people set, without its widgets. */
export interface BoardFields {
  name: string
  description: string
  visibility: Visibility
  range: BoardRange
  filters: BoardFilter[]
  refresh_s: number
}

/** A stored dashboard. Instants in epoch ms. */
export interface Board extends BoardFields {
  id: number
  site_id: number
  /** null for the built-in overview. */
  owner_user_id: number | null
  position: number
  version: number
  created_at: number
  updated_at: number
  deleted_at: number | null
}

/** A dashboard with its widgets in the order of their ids. */
export interface WholeBoard extends Board {
  widgets: StoredWidget[]
}

export const DEFAULT_RANGE: BoardRange = { period: "28d" }
export const DEFAULTS: Omit<BoardFields, "name"> = {
  description: "",
  visibility: "private",
  range: DEFAULT_RANGE,
  filters: [],
  refresh_s: 0,
}
