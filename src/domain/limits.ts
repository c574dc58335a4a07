/** All bounds of the product (reliability.md section 10). Routes, documents and tests read them from here. */

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
  /** The age a browser may state for its event. */
  ageMs: 6 * 3_600_000,
  /** A server's timestamp may lie this far in the future before it is set to now. */
  futureMs: 60_000,
  queueEvents: 20_000,
  queueBytes: 16 << 20,
  groupMs: 2,
  groupEvents: 200,
  visitorEventsPerMinute: 600,
  siteEventsPerSecond: 1_000,
  siteBurst: 10_000,
  instanceEventsPerSecond: 20_000,
  /** How long an event id is remembered, from arrival. */
  eventIdHours: 24,
  /** How long counts of drops are kept. */
  dropDays: 90,
} as const

/** New distinct values per site and local day of the event; beyond it the value is stored as `(other)`. */
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
  /** Of the texts of all new values together, which stay in memory: 100 properties with 10,000 values of 2,000 bytes are 2 GB. */
  bytes: 32 << 20,
} as const

export const API = {
  bodyBytes: 64 << 10,
  jsonDepth: 10,
  /** Of a question in the array form, so that four nested operators fit: each takes two levels. */
  queryJsonDepth: 12,
  requestsPerMinute: 600,
  failedAuthPerMinute: 60,
  keysPerOrganization: 100,
  /** Life of a key unless chosen otherwise. */
  keyDays: 365,
  keyRanges: 20,
  keyRateLimit: { minimum: 1, maximum: 100_000 },
  /** How long the secret before a rotation works on. */
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
  /** A mail is not sent again before. */
  invitationPauseMs: 5 * 60_000,
  domains: 50,
  /** Identity providers of one organization, and groups that the map of one names. */
  providers: 20,
  providerGroups: 100,
  keySites: 500,
  policyDays: { minimum: 1, maximum: 3_650 },
  breakGlassUsers: 20,
  /** Counts of a key's requests are kept this long. */
  keyUsageDays: 90,
} as const

/** Requests to the outside (areas/00 section 16). */
export const OUTBOUND = {
  /** In all, redirects included. */
  timeoutMs: 10_000,
  answerBytes: 1 << 20,
  hops: 3,
  /** Of an answer's text that people are shown. */
  excerptBytes: 2_048,
} as const

/** Work in the background (areas/00 section 12). */
export const JOBS = {
  atOnce: 8,
  /** Unless the kind says otherwise. */
  atOnceOfKind: 2,
  /** Jobs that are looked at in one round. */
  looked: 50,
  leaseMs: 60_000,
  /** Progress is stored this often at most. */
  progressMs: 1_000,
  keptDays: 30,
  /** What runs is waited for when the process ends. */
  stopMs: 3_000,
} as const

/** Product events (areas/00 section 13). */
export const OUTBOX = {
  slice: 100,
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
  /** Operators around a condition. */
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
  breakdownLimit: 100,
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

export const THINGS = {
  sitesPerOrganization: 1_000,
  /** How long a deleted site can be brought back. */
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
  /** How long a password that was right opens a view. */
  shareUnlockMs: 3_600_000,
  /** Wrong passwords a minute, from one network. */
  shareTries: 5,
  journeySteps: { min: 2, max: 6, default: 4 },
  journeyTop: { min: 1, max: 20, default: 8 },
  /** Fewer visits say little of the ways that people take. */
  journeySample: 20,
  allowedQueryParams: 20,
  queryParamChars: 100,
  /** Of each product. */
  compatIds: 100,
  compatIdChars: 253,
  shieldsOfKind: 100,
  shieldConditions: 5,
  shieldNoteChars: 500,
  shieldNameChars: 200,
} as const

/** Of a password that somebody chooses, in characters. */
export const PASSWORD = { min: 12, max: 256 } as const
