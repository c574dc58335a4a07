/** What the examples of operations have in common: they describe an invented shop on 20 November 2026. */

/** Example of an operation. */
export interface Example {
  /** Query string of the request. Parameters that are not named keep their defaults. */
  query?: string
  /** Body of the request, as JSON or as a form. */
  request?: unknown
  /** Body of the response, as JSON. */
  response?: unknown
  /** Other bodies, by media type. */
  texts?: Readonly<Record<string, string>>
}

/** Examples by `operationId`. */
export type Examples = Readonly<Record<string, Example>>

export const TIMES = { created_at: "2026-01-05T10:00:00Z", updated_at: "2026-01-05T10:00:00Z" }
export const STEPS = [
  { type: "page", match: "exact", value: "/pricing", name: "Prices" },
  { type: "event", match: "exact", value: "signup", name: "signup" },
]
export const GERMANS = [{ dimension: "country", values: ["DE"] }]

/** Returns the last page of a list. */
export const page = (row: object) => ({ data: [row], has_more: false })

export const RANGE = { from: "2026-11-14", to: "2026-11-20", timezone: "Europe/Berlin", includes_today: true }
export const FACTS = { site_id: 1, range: RANGE, visitor_window: "day" }
