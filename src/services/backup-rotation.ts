import type { Manifest } from "./backup-folder.ts"

export interface KeepRules {
  daily: number
  weekly: number
}

const DAY = 86_400_000
/** Erased data is gone from the backups after this time, whatever else is to be kept. */
const OLDEST = 35 * DAY

/** Ids of backups that are no longer kept. The newest good one of all always stays. */
export function expiredBackups(backups: readonly Manifest[], { daily, weekly }: KeepRules, now: number): string[] {
  const newestFirst = [...backups].sort((left, right) => right.created_at.localeCompare(left.created_at))
  const good = newestFirst.filter((backup) => backup.verified_at !== null && backup.failed_at === null)
  const scheduled = good.filter(({ kind }) => kind === "daily")
  const kept = new Set([
    ...good.slice(0, 1),
    ...newestOfEach(scheduled, dayOf).slice(0, daily),
    ...newestOfEach(scheduled, weekOf).slice(0, weekly),
    ...newestFirst.filter(({ kind }) => kind === "manual"),
    ...newestFirst.filter((backup) => isSafety(backup) && good.filter((other) => other.created_at > backup.created_at).length < 3),
  ])
  return backups
    .filter((backup) => !kept.has(backup) || (backup !== good[0] && now - Date.parse(backup.created_at) > OLDEST))
    .map(({ id }) => id)
}

const isSafety = ({ kind }: Manifest): boolean => kind === "migration" || kind === "restore"
const dayOf = ({ created_at }: Manifest): string => created_at.slice(0, 10)
/** Weeks begin on Monday; the first day of 1970 was a Thursday. */
const weekOf = ({ created_at }: Manifest): string => String(Math.floor((Date.parse(created_at) / DAY + 3) / 7))

function newestOfEach(newestFirst: readonly Manifest[], slot: (backup: Manifest) => string): Manifest[] {
  const seen = new Map<string, Manifest>()
  for (const backup of newestFirst) if (!seen.has(slot(backup))) seen.set(slot(backup), backup)
  return [...seen.values()]
}
