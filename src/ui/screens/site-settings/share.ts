import { timeText } from "../../format.ts"
import { conditionsText, type KeptCondition } from "./condition-rows.tsx"

/** A shared view, as `GET /api/private/sites/{site}/shares` shows it. */
export interface ShareShown {
  id: number
  name: string
  url: string
  has_password: boolean
  expires_at: string | null
  locked_filters: KeptCondition[]
  sections: string[]
  allow_range: boolean
  allow_filters: boolean
  allow_export: boolean
  embed_origins: string[]
  /** Made by the site's switch. */
  is_public: boolean
  version: number
}

export const SECTION_WORDS: Readonly<Record<string, string>> = {
  summary: "Figures and chart",
  sources: "Sources",
  pages: "Pages",
  locations: "Locations",
  devices: "Devices",
  events: "Events",
  goals: "Goals",
  busy_hours: "Busy hours",
  realtime: "Visitors now",
  revenue: "Revenue",
}
const yesNo = (value: boolean): string => (value ? "yes" : "no")

/** What two versions of it differ in, for people. */
export const wordsOf = (share: Omit<ShareShown, "id" | "url" | "is_public" | "version">) =>
  [
    ["Name", share.name],
    ["Password", yesNo(share.has_password)],
    ["Ends at", share.expires_at === null ? "never" : timeText(share.expires_at)],
    ["Locked filters", conditionsText(share.locked_filters)],
    ["Shown", share.sections.map((section) => SECTION_WORDS[section] ?? section).join(", ")],
    ["Period may be chosen", yesNo(share.allow_range)],
    ["Filters may be chosen", yesNo(share.allow_filters)],
    ["CSV files", yesNo(share.allow_export)],
    ["Pages that may embed it", share.embed_origins.join(", ")],
  ] as const
