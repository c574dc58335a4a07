/** What a visit keeps from its first event, frozen. */
export const TRAITS = [
  "source",
  "referrer",
  "channel",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "click_id_type",
  "country",
  "region",
  "city",
  "device",
  "size",
  "browser",
  "browser_version",
  "os",
  "os_version",
  "language",
] as const
/** "" is the missing value. */
export type VisitTraits = Record<(typeof TRAITS)[number], string>

/** How the visitor of a visit is known: by the rotating id, by a stored random id, by the site's own user id. */
export const VISITOR_KINDS = ["rotating", "device", "user"] as const
export type VisitorKind = (typeof VISITOR_KINDS)[number]

export const IDENTITY_MODES = ["daily", "weekly", "monthly", "identified", "persistent"] as const
export type IdentityMode = (typeof IDENTITY_MODES)[number]

/** A new visit begins after more than this without an event. */
export const VISIT_IDLE_MS = 30 * 60_000
/** A visit's events lie within this time. */
export const VISIT_LENGTH_MS = 24 * 3_600_000
/** Events of any name; a fuller visit is closed. */
export const VISIT_EVENTS = 10_000
