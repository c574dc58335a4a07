/**
 * The setup form's entries, stored so that they survive a reload of the tab. The setup token and the password are never stored:
 * browsers write session storage to disk, and either of them grants access.
 */
import type { Admin, FirstSite } from "./setup-steps.tsx"

interface SetupDraft {
  admin: Omit<Admin, "password">
  site: FirstSite
}

const KEY = "footfall.setup"

export function keptDraft(): SetupDraft | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(KEY) ?? "null") as SetupDraft | null) ?? undefined // written below
  } catch {
    return undefined
  }
}

export function keepDraft({ password: _, ...admin }: Admin, site: FirstSite): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ admin, site } satisfies SetupDraft))
  } catch {
    // Storage may be forbidden or full. Only a reload of the tab would miss the draft.
  }
}

/** Removes the draft after setup is complete. */
export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // Storage that is forbidden holds no draft.
  }
}
