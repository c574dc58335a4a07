import type { SharedTerms, ShareTerms } from "../../../domain/share.ts"
import { linesOf } from "../../parts/form/fields.tsx"
import { timeText } from "../../text/format.ts"
import { conditionsOf, conditionsText, type DraftCondition, draftsOf } from "../condition-rows.tsx"

/** The fields that every kind of share has, as its managers receive them. */
export type SharedFields = Pick<SharedTerms, "has_password" | "expires_at"> & Omit<ShareTerms, "expires_at">

const yesNo = (value: boolean): string => (value ? "yes" : "no")

/** Returns the fields of a share in words, to compare two versions. */
export const textOf = (share: SharedFields): [label: string, text: string][] => [
  ["Name", share.name],
  ["Password", yesNo(share.has_password)],
  ["Expires", share.expires_at === null ? "never" : timeText(share.expires_at)],
  ["Locked filters", conditionsText(share.locked_filters)],
  ["Viewers can change the period", yesNo(share.allow_range)],
  ["Viewers can filter", yesNo(share.allow_filters)],
  ["Viewers can export CSV files", yesNo(share.allow_export)],
  ["Pages that can embed this view", share.embed_origins.join(", ")],
]

/** Returns what is special about a share, for its entry in a list. */
export function factsOf({ has_password, expires_at, allow_range, allow_filters, allow_export, locked_filters }: SharedFields): string[] {
  const facts = [
    has_password && "password required",
    expires_at !== null && `${isExpired(expires_at) ? "expired" : "expires"} ${timeText(expires_at)}`,
    !allow_range && "fixed period",
    !allow_filters && "no filters",
    allow_export && "CSV export",
    locked_filters.length > 0 && `only ${conditionsText(locked_filters)}`,
  ]
  return facts.filter((fact) => fact !== false)
}

export const isExpired = (expires: string | null): boolean => expires !== null && Date.parse(expires) <= Date.now()

/** Entries of the form for the fields that every kind of share has. */
export interface ShareDraft {
  name: string
  password: string
  hasPassword: boolean
  expires: string
  filters: DraftCondition[]
  range: boolean
  mayFilter: boolean
  mayExport: boolean
  origins: string
}

export const shareDraft = (share: SharedFields | undefined, needsPassword: boolean): ShareDraft => ({
  name: share?.name ?? "",
  password: "",
  hasPassword: share?.has_password ?? needsPassword,
  expires: localText(share?.expires_at ?? null),
  filters: draftsOf(share?.locked_filters ?? []),
  range: share?.allow_range ?? true,
  mayFilter: share?.allow_filters ?? true,
  mayExport: share?.allow_export ?? false,
  origins: share?.embed_origins.join("\n") ?? "",
})

/** Converts the entries to the request body. */
export const bodyOf = (draft: ShareDraft, before: SharedFields | undefined) => ({
  name: draft.name,
  ...passwordOf(draft, before?.has_password ?? false),
  expires_at: draft.expires === "" ? null : new Date(draft.expires).toISOString(),
  locked_filters: conditionsOf(draft.filters),
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
