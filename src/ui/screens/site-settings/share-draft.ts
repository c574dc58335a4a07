import { useState } from "preact/hooks"
import { conditionsOf, draftsOf } from "./condition-rows.tsx"
import { linesOf } from "./settings.ts"
import { SECTION_WORDS, type ShareShown } from "./share.ts"

const DEFAULT_SECTIONS = Object.keys(SECTION_WORDS).filter((section) => section !== "revenue")

/** Entries of the form for a shared view. */
export type ShareDraft = ReturnType<typeof useShareDraft>["draft"]

export function useShareDraft(share: ShareShown | undefined) {
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
export const bodyOf = (draft: ShareDraft, before: ShareShown | undefined) => ({
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
