export const REPORT_KINDS = ["daily", "weekly", "monthly"] as const
export type ReportKind = (typeof REPORT_KINDS)[number]

export const REPORT_CHANNELS = ["email", "chat"] as const
export type ReportChannel = (typeof REPORT_CHANNELS)[number]

export const SECTIONS = ["figures", "pages", "sources", "places", "goals", "revenue", "search_queries"] as const
export type Section = (typeof SECTIONS)[number]

/** A report that is sent regularly. Times are epoch milliseconds. */
export interface Report {
  id: number
  site_id: number
  kind: ReportKind
  channel: ReportChannel
  /** Addresses, those of unsubscribed people included. Empty for chats. */
  recipients: readonly string[]
  /** Hour of the day in the time zone of the site. */
  hour: number
  sections: readonly Section[]
  enabled: boolean
  /** Member whose own subscription it is. */
  user_id: number | null
  sent: readonly Run[]
  last_sent_at: number | null
  sent_now_at: number | null
  next_at: number
  created_by: number | null
  created_at: number
  updated_at: number
  version: number
}

/** Periods that were sent without a gap: the last day of the first one, and that of the last one. */
export type Run = readonly [first: string, last: string]

/** A person who receives the emails of a report. */
export interface Recipient {
  id: number
  report_id: number
  /** Keyed hash of the address. */
  email_key: string
  token_hash: string
  token_secret_id: number | null
  failures: number
  unsubscribed_at: number | null
  asked_at: number | null
}

export type RecipientState = "active" | "unsubscribed" | "failed"

export const stateOf = ({ unsubscribed_at, failures }: Recipient): RecipientState =>
  unsubscribed_at !== null ? "unsubscribed" : failures >= LIMITS.failures ? "failed" : "active"

const DAY_MS = 86_400_000

export const LIMITS = {
  perSite: 100,
  perUser: 10,
  recipients: 50,
  /** Permanent failures in a row after which a recipient gets no more emails. */
  failures: 3,
  /** Latest start of a sending after its time. */
  lateMs: DAY_MS,
  /** Pause between two sendings on request. */
  sendNowMs: 600_000,
  /** Pause between two emails that ask an unsubscribed person to confirm. */
  askMs: 30 * DAY_MS,
  rows: 5,
  nameChars: 80,
} as const
