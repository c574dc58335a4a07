/** Responses of the admin routes, with the fields that the console's pages show. */

export interface Listed<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
  total?: number
}

export interface Named {
  id: number
  name: string
}

export interface User {
  /** Null for an invited person who has not created an account yet. */
  id: number | null
  invitation_id?: number
  email: string
  name: string
  status: "active" | "invited" | "disabled"
  is_instance_admin: boolean
  organizations: (Named & { role: string })[]
  mfa: { totp: boolean; passkeys: number }
  auth: { password: boolean; oidc: string[] }
  created_at: string
  last_login_at: string | null
  last_seen_at: string | null
  sessions: number
  api_keys: number
  version: number
}

export interface Organization extends Named {
  members: number
  owners: number
  sites: number
  keys: number
  events_30d: number
  bytes: number
  created_at: string
  version: number
}

export interface Member {
  user: Named & { email: string }
  role: string
  mfa: boolean
  last_seen_at: string | null
  joined_at: string
  version: number
}

export interface Site extends Named {
  hosts: string[]
  organization: Named
  events_24h: number
  events_30d: number
  bytes: number
  last_event_at: string | null
  retention_days: number | null
  created_at: string
  deleted_at?: string
}

export interface Session {
  id: number
  user: { id: number; email: string }
  method: string
  mfa: boolean
  device: string
  ip_prefix: string
  place: string
  created_at: string
  last_seen_at: string
  expires_at: string
  current: boolean
  impersonation?: { by: string; mode: string }
}

export interface Job {
  id: number
  kind: string
  key: string
  state: "queued" | "running" | "done" | "failed" | "cancelled"
  organization_id: number | null
  site_id: number | null
  progress: { phase: string; done: number; total?: number; fraction?: number; eta_s?: number } | null
  attempts: number
  run_at: string
  created_by: number | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  error_code: string | null
  error_message: string | null
}

export interface Line {
  at: string
  level: string
  message: string
  fields?: Record<string, unknown>
}

export interface IngestionMinute {
  at: string
  accepted: number
  dropped: Record<string, number>
  refused_storage: number
  refused_queue: number
}

export interface Ingestion {
  data: IngestionMinute[]
  totals: Omit<IngestionMinute, "at">
  queue_depth: number
  commit: { p50_ms: number; p99_ms: number } | null
  oldest_unsealed_at: string | null
}

interface StoreSize {
  bytes: number
  wal_bytes: number
  bytes_per_day: number | null
  tables: { table: string; rows: number; bytes?: number | null }[]
}

export interface Storage {
  catalog: StoreSize | null
  events: StoreSize
  sites: { site_id: number; kind: string; segments: number; visits: number; events: number; bytes: number; bytes_per_day: number | null }[]
  disk: { free_bytes: number; total_bytes: number; days_to_full: number | null }
}

export interface Backup {
  id: string
  label: string | null
  kind: string
  created_at: string
  bytes: number
  target: string
  includes: string[]
  encrypted: boolean
  state: "verified" | "unverified" | "failed" | "damaged"
  verified_at: string | null
  version: string
  note?: string
}

/** What a deletion of old data would remove. */
export interface Preview {
  at: string
  cutoff: string | null
  by: { site_id: number; kind: string; cutoff: string; rows: number; events: number; days: number }[]
  plugins: { id: string; rows: number }[]
  bytes: number
}

export interface Setting {
  key: string
  group: string
  value: unknown
  default: unknown
  source: "env" | "file" | "db" | "default"
  editable: boolean
  secret?: { set: boolean }
  description: string
  schema?: SettingSchema
}

/** JSON Schema of a setting, limited to the forms that settings use. */
export interface SettingSchema {
  type?: "string" | "boolean" | "integer" | "array" | "null"
  const?: string
  anyOf?: SettingSchema[]
  minimum?: number
  maximum?: number
}

export interface Settings {
  data: Setting[]
  version: number
}

export interface Area {
  id: string
  title: string
  enabled: boolean
  version: number
  schema: string[]
  tables: string[]
  rows: number
}

export interface Schedule {
  name: string
  cron: string
  timezone: string
  enabled: boolean
  last_run_at: string | null
  last_state: string | null
  next_run_at: string | null
}

export interface Mode {
  enabled: boolean
  message: string | null
  until: string | null
}
