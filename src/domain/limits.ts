/** All limits of the product (reliability.md section 10). Routes, documentation and tests read them from here. */

export const COLLECT = {
  bodyBytes: 64 << 10,
  batchBodyBytes: 256 << 10,
  batchEvents: 100,
  serverBodyBytes: 1 << 20,
  serverEvents: 1_000,
  headerBytes: 16 << 10,
  urlBytes: 8_192,
  pageBytes: 2_000,
  referrerBytes: 2_000,
  titleChars: 512,
  userAgentChars: 512,
  nameChars: 120,
  props: 30,
  propKeyBytes: 300,
  propValueBytes: 2_000,
  languageChars: 35,
  userIdChars: 256,
  utmChars: 200,
  /** Maximum age that a browser may state for an event. */
  ageMs: 6 * 3_600_000,
  /** A server's timestamp that lies further in the future than this is set to the current time. */
  futureMs: 60_000,
  queueEvents: 20_000,
  queueBytes: 16 << 20,
  groupMs: 2,
  groupEvents: 200,
  visitorEventsPerMinute: 600,
  siteEventsPerSecond: 1_000,
  siteBurst: 10_000,
  instanceEventsPerSecond: 20_000,
  /** Time for which an event id is remembered, from its arrival. */
  eventIdHours: 24,
  /** Retention of drop counts. */
  dropDays: 90,
} as const

/** Maximum number of new distinct values per site and local day of the event. Values beyond it are stored as `(other)`. */
export const NEW_VALUES_PER_DAY = {
  page: 10_000,
  title: 10_000,
  referrer: 10_000,
  propertyValue: 10_000,
  source: 2_000,
  utm: 2_000,
  name: 500,
  property: 100,
  hostname: 200,
  browser_version: 2_000,
  os_version: 2_000,
  browser: 2_000,
  os: 2_000,
  language: 2_000,
  city: 2_000,
  region: 2_000,
  country: 300,
  /** Total bytes of the texts of new values, which stay in memory: 100 properties with 10,000 values of 2,000 bytes take 2 GB. */
  bytes: 32 << 20,
} as const

export const API = {
  bodyBytes: 64 << 10,
  jsonDepth: 10,
  /** For a query in the array form: allows four nested operators, each of which takes two levels. */
  queryJsonDepth: 12,
  /** Body with several queries. */
  queriesBodyBytes: 256 << 10,
  requestsPerMinute: 600,
  failedAuthPerMinute: 60,
  keysPerOrganization: 100,
  /** Default lifetime of a key. */
  keyDays: 365,
  keyRanges: 20,
  keyRateLimit: { minimum: 1, maximum: 100_000 },
  /** Time for which the old secret remains valid after a rotation. */
  keyGraceHours: { min: 0, max: 168, default: 24 },
  listLimit: { min: 1, max: 100, default: 50 },
  searchChars: 200,
  idempotencyHours: 24,
  /** Exports of raw rows, per key. */
  rowExportsPerHour: 60,
  exportsAtOnce: 2,
  mcpBodyBytes: 256 << 10,
  privateBodyBytes: 1 << 20,
  privateListLimit: { min: 1, max: 200, default: 50 },
} as const

/** Organizations, their members and keys (areas/01 sections 5 and 7). */
export const ORGANIZATION = {
  members: 500,
  guestsPerSite: 100,
  openInvitations: 50,
  invitationsPerDay: 50,
  invitationDays: 7,
  /** Minimum pause before an invitation is sent again. */
  invitationPauseMs: 5 * 60_000,
  domains: 50,
  /** Host proofs (TXT records). */
  hostProofs: 500,
  /** Identity providers per organization, and groups per role map. */
  providers: 20,
  providerGroups: 100,
  keySites: 500,
  policyDays: { minimum: 1, maximum: 3_650 },
  breakGlassUsers: 20,
  /** Retention of a key's request counts. */
  keyUsageDays: 90,
} as const

/** Outgoing requests (areas/00 section 16). */
export const OUTBOUND = {
  /** Total time, including redirects. */
  timeoutMs: 10_000,
  answerBytes: 1 << 20,
  hops: 3,
  /** Longest wait that a server can ask for. */
  longestRetryMs: 86_400_000,
  /** Maximum length of a response body that is shown to people. */
  excerptBytes: 2_048,
} as const

/** Background jobs (areas/00 section 12). */
export const JOBS = {
  /** Interval in which due jobs are looked for. One that is due earlier starts at its time. */
  beatMs: 1_000,
  atOnce: 8,
  /** Default for kinds of jobs without their own limit. */
  atOnceOfKind: 2,
  /** Due jobs that are read at a time. */
  looked: 50,
  leaseMs: 60_000,
  /** Minimum interval between two writes of the progress. */
  progressMs: 1_000,
  keptDays: 30,
  /** Maximum time to wait for running jobs when the process stops. */
  stopMs: 3_000,
} as const

/** Product events (areas/00 section 13). */
export const OUTBOX = {
  slice: 100,
  /** Number of events without interest after which a consumer's position is stored. */
  maxSkipped: 1_000,
  /** Time after which a consumer's position is stored during a delivery. After a crash, so much is delivered again. */
  storeMs: 100,
  keptDays: 30,
  longestPauseMs: 5 * 60_000,
  stopMs: 1_000,
} as const

export const QUERY = {
  points: 1_000,
  groupings: 3,
  flatMetrics: 10,
  flatFilters: 10,
  flatValues: 50,
  metrics: 20,
  leaves: 50,
  /** Nested operators around a condition. */
  filterDepth: 4,
  clauses: 100,
  orders: 5,
  pageLimit: 10_000,
  valueChars: 2_000,
  propertyChars: 300,
  wildcardChars: 200,
  wildcardStars: 8,
  rangeYears: 10,
  timeoutMs: 15_000,
  admittedPerOrganization: 8,
  waitingPerOrganization: 32,
  waitingInstance: 256,
  breakdownLimit: 1_000,
  breakdownOffset: 10_000,
  realtimeLimit: 50,
  realtimeEvents: 50,
  suggestions: { min: 1, max: 100, default: 20 },
  propertyKeys: { min: 1, max: 20, default: 10 },
  propertyValues: 10,
  campaigns: { min: 1, max: 10_000, default: 100 },
  funnelRows: { min: 1, max: 20, default: 8 },
  batch: 20,
  shownValueChars: 500,
} as const

/** Limits of Plausible's API v1, as its documentation states them, and of the texts of its parameters. */
export const PLAUSIBLE = {
  rows: 1_000,
  usualRows: 100,
  pages: 100_000,
  filterChars: 8_000,
  propertyChars: 320,
  /** Items of a list of sites or goals. */
  listed: { min: 1, max: 1_000, default: 100 },
} as const

/** Limits of the reports in the form of Umami's API. */
export const UMAMI = { rows: 1_000, usualRows: 500, offset: 100_000, filterChars: 2_000 } as const

/** Maximum number of hits in a request to GoatCounter's API. */
export const GOATCOUNTER_HITS = 500

export const THINGS = {
  sitesPerOrganization: 1_000,
  /** Time for which a deleted site can be restored. */
  siteRestoreDays: 30,
  hosts: 100,
  goals: 200,
  funnels: 100,
  annotations: 5_000,
  annotationChars: 500,
  funnelSteps: { min: 2, max: 10 },
  siteNameChars: 100,
  nameChars: 120,
  retentionDays: { min: 1, max: 3_650 },
  windowHours: { min: 1, max: 720 },
  persistentDays: { min: 1, max: 395 },
  bounceEngagedSeconds: { min: 0, max: 86_400 },
  minGroup: { min: 1, max: 100 },
  segments: 500,
  segmentNameChars: 100,
  shares: 20,
  shareOrigins: 10,
  sharePassword: { min: 8, max: 256 },
  /** Time for which a shared view stays unlocked after the correct password. */
  shareUnlockMs: 3_600_000,
  /** Wrong passwords for a shared view, per minute and network. */
  shareTries: 5,
  /** Attempts to unlock any shared view, including successful ones and unknown URLs, per minute and network. */
  shareUnlocks: 60,
  journeySteps: { min: 2, max: 6, default: 4 },
  journeyTop: { min: 1, max: 20, default: 8 },
  /** Minimum number of visits for a meaningful journey report. */
  journeySample: 20,
  allowedQueryParams: 20,
  /** As long as the key of a property can be. */
  orderPropertyChars: 300,
  queryParamChars: 100,
  /** Per product. */
  compatIds: 100,
  compatIdChars: 253,
  shieldsOfKind: 100,
  shieldConditions: 5,
  shieldNoteChars: 500,
  shieldNameChars: 200,
} as const

/** Length of a user-chosen password, in characters. */
export const PASSWORD = { min: 12, max: 256 } as const
