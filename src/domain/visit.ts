/** The attributes that a visit takes from its first event. They do not change afterwards. */
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

/** How the visitor of a visit is recognized: by the rotating id, by a stored random id, or by the site's own user id. */
export const VISITOR_KINDS = ["rotating", "device", "user"] as const
export type VisitorKind = (typeof VISITOR_KINDS)[number]

export const IDENTITY_MODES = ["daily", "weekly", "monthly", "identified", "persistent"] as const
export type IdentityMode = (typeof IDENTITY_MODES)[number]

/** The maximum pause between two events of a visit. */
export const VISIT_IDLE_MS = 30 * 60_000
/** The maximum length of a visit. */
export const VISIT_LENGTH_MS = 24 * 3_600_000
/** The maximum number of events per visit, of any name. */
export const VISIT_EVENTS = 10_000
