import type { ImportedKind } from "#plugin"
import type { Dimension, Metric } from "./columns.ts"

/** The reports that are requested from the Google Analytics Data API: one for each table of totals. */
export interface ApiTable {
  /** Name of its file, without ending. */
  name: string
  kind: ImportedKind
  /** Names of the API in the order of the request, in addition to `date`. */
  dimensions: Readonly<Record<string, Dimension>>
  metrics: Readonly<Record<string, Metric>>
}

const FIVE = {
  totalUsers: "total_users",
  screenPageViews: "views",
  sessions: "sessions",
  engagedSessions: "engaged_sessions",
  userEngagementDuration: "engagement",
} as const

/** The table without dimensions comes first: it says which days have data. */
export const API_TABLES: readonly [ApiTable, ...ApiTable[]] = [
  { name: "visitors", kind: "imported_visitors", dimensions: {}, metrics: FIVE },
  {
    name: "sources",
    kind: "imported_sources",
    dimensions: {
      sessionSource: "source",
      sessionMedium: "medium",
      sessionCampaignName: "campaign",
      sessionManualAdContent: "content",
      sessionGoogleAdsKeyword: "term",
    },
    metrics: FIVE,
  },
  {
    name: "pages",
    kind: "imported_pages",
    dimensions: { hostName: "hostname", pagePath: "page" },
    metrics: {
      totalUsers: "total_users",
      activeUsers: "active_users",
      screenPageViews: "views",
      sessions: "sessions",
      userEngagementDuration: "engagement",
    },
  },
  { name: "entry_pages", kind: "imported_entry_pages", dimensions: { landingPage: "landing_page" }, metrics: FIVE },
  {
    name: "locations",
    kind: "imported_locations",
    dimensions: { countryId: "country", region: "region", city: "city" },
    metrics: FIVE,
  },
  { name: "devices", kind: "imported_devices", dimensions: { deviceCategory: "device" }, metrics: FIVE },
  { name: "browsers", kind: "imported_browsers", dimensions: { browser: "browser" }, metrics: FIVE },
  {
    name: "operating_systems",
    kind: "imported_operating_systems",
    dimensions: { operatingSystem: "os", operatingSystemVersion: "os_version" },
    metrics: FIVE,
  },
  {
    name: "custom_events",
    kind: "imported_custom_events",
    dimensions: { eventName: "event" },
    metrics: { eventCount: "events", totalUsers: "total_users" },
  },
]
