import { useState } from "preact/hooks"
import type { ShareFields, ShareResponse } from "../../../domain/share.ts"
import { timeText } from "../../text/format.ts"
import { conditionsOf, conditionsText, draftsOf } from "./condition-rows.tsx"
import { linesOf } from "./settings.ts"

export const SECTION_LABELS: Readonly<Record<string, string>> = {
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

type SharedFields = Omit<ShareFields, "expires_at" | "sections"> &
  Pick<ShareResponse, "has_password" | "expires_at"> & { sections: readonly string[] }

/** Returns the fields of a shared view in words, to compare two versions. */
export const textOf = (share: SharedFields) =>
  [
    ["Name", share.name],
    ["Password", yesNo(share.has_password)],
    ["Expires", share.expires_at === null ? "never" : timeText(share.expires_at)],
    ["Locked filters", conditionsText(share.locked_filters)],
    ["Sections", share.sections.map((section) => SECTION_LABELS[section] ?? section).join(", ")],
    ["Viewers can change the period", yesNo(share.allow_range)],
    ["Viewers can filter", yesNo(share.allow_filters)],
    ["Viewers can export CSV files", yesNo(share.allow_export)],
    ["Pages that can embed this view", share.embed_origins.join(", ")],
  ] as const

const DEFAULT_SECTIONS = Object.keys(SECTION_LABELS).filter((section) => section !== "revenue")

/** Entries of the form for a shared view. */
export type ShareDraft = ReturnType<typeof useShareDraft>["draft"]

export function useShareDraft(share: ShareResponse | undefined) {
  const [draft, setDraft] = useState({
    name: share?.name ?? "",
    password: "",
    hasPassword: share?.has_password ?? false,
    expires: localText(share?.expires_at ?? null),
    filters: draftsOf(share?.locked_filters ?? []),
    sections: share?.sections ?? DEFAULT_SECTIONS,
    range: share?.allow_range ?? true,
    mayFilter: share?.allow_filters ?? true,
    mayExport: share?.allow_export ?? false,
    origins: share?.embed_origins.join("\n") ?? "",
  })
  return { draft, set: (changes: Partial<typeof draft>) => setDraft((now) => ({ ...now, ...changes })) }
}

/** Converts the entries to the request body. */
export const bodyOf = (draft: ShareDraft, before: ShareResponse | undefined) => ({
  name: draft.name,
  ...passwordOf(draft, before?.has_password ?? false),
  expires_at: draft.expires === "" ? null : new Date(draft.expires).toISOString(),
  locked_filters: conditionsOf(draft.filters),
  sections: draft.sections,
  allow_range: draft.range,
  allow_filters: draft.mayFilter,
  allow_export: draft.mayExport,
  embed_origins: linesOf(draft.origins),
})

/** Formats an instant for a `datetime-local` field, which uses the browser's time zone implicitly. */
const localText = (instant: string | null): string => {
  if (instant === null) return ""
  const at = new Date(instant)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Returns the password to send: unchanged if the field is empty, removed if it was switched off. */
function passwordOf({ hasPassword, password }: { hasPassword: boolean; password: string }, before: boolean): { password?: string | null } {
  if (!hasPassword) return before ? { password: null } : {}
  return password === "" && before ? {} : { password }
}
