import type { Scoped } from "./area.ts"

export const STATUSES = ["disconnected", "connecting", "ok", "degraded", "needs_reauth", "error"] as const
export type Status = (typeof STATUSES)[number]

/** What connects a site, or an organization as a whole, to an outside service. Times are epoch milliseconds. */
export interface Integration extends Scoped {
  id: number
  kind: string
  name: string
  /** Connection of the core whose account it uses. */
  connection_id: number | null
  status: Status
  /** Settings of its kind. */
  config: Readonly<Record<string, unknown>>
  secret_id: number | null
  /** Account, or host and last characters of a URL, as people know it. */
  account_label: string
  last_ok_at: number | null
  last_error_code: string | null
  last_error_at: number | null
  next_run_at: number | null
  /** When its failure was last reported by email. */
  notified_at: number | null
  created_by: number | null
  created_at: number
  updated_at: number
  version: number
}

export type Category = "search" | "imports" | "chat"
export type ConnectBy = "oauth" | "service_account" | "api_key" | "url"

/** A kind of integration, as `GET /integrations` lists it. */
export interface KindFacts {
  kind: string
  name: string
  category: Category
  /** What `connect` accepts on this instance. */
  connect_by: readonly ConnectBy[]
}
