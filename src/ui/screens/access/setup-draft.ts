/**
 * What was typed into the set-up, for a reload of its tab. Neither the console's token nor the password is among it: what a
 * browser keeps lies on the disk, and each of them lets somebody in.
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
    // Storage may be forbidden or full; without a reload nothing is missing.
  }
}

/** Once somebody is the first admin, whoever it was. */
export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // Where it is forbidden there is none.
  }
}
