import { timeText } from "../../text/format.ts"
import { conditionsText, type StoredCondition } from "./condition-rows.tsx"

/** Shared view as `GET /api/private/sites/{site}/shares` returns it. */
export interface ShareShown {
  id: number
  name: string
  url: string
  has_password: boolean
  expires_at: string | null
  locked_filters: StoredCondition[]
  sections: string[]
  allow_range: boolean
  allow_filters: boolean
  allow_export: boolean
  embed_origins: string[]
  /** Whether the view was created by the *Public site* setting. */
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
  realtime: "Current visitors",
  revenue: "Revenue",
}
const yesNo = (value: boolean): string => (value ? "yes" : "no")

/** Returns the fields of a shared view in words, to compare two versions. */
export const wordsOf = (share: Omit<ShareShown, "id" | "url" | "is_public" | "version">) =>
  [
    ["Name", share.name],
    ["Password", yesNo(share.has_password)],
    ["Expires", share.expires_at === null ? "never" : timeText(share.expires_at)],
    ["Locked filters", conditionsText(share.locked_filters)],
    ["Sections", share.sections.map((section) => SECTION_WORDS[section] ?? section).join(", ")],
    ["Viewers can change the period", yesNo(share.allow_range)],
    ["Viewers can filter", yesNo(share.allow_filters)],
    ["Viewers can export CSV files", yesNo(share.allow_export)],
    ["Pages that can embed this view", share.embed_origins.join(", ")],
  ] as const
