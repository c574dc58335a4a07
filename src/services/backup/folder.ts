import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Static, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { PROBE, placesIn } from "../runtime/data-folder.ts"
import { ExitFault, ForeignFile } from "../runtime/exit.ts"
import { freshFile, replaceFile, syncPath } from "../runtime/files.ts"

/** Reason for a backup: by hand, by the daily job, before a migration, before a restore. */
const BackupKind = t.Union([t.Literal("manual"), t.Literal("daily"), t.Literal("migration"), t.Literal("restore")])
export type BackupKind = Static<typeof BackupKind>

const Counts = t.Record(t.String(), t.Integer())
const Files = t.Array(t.Object({ name: t.String(), bytes: t.Integer(), sha256: t.String() }))

/** Content of `manifest.json`: the files of a backup and what they are checked against. */
const Manifest = t.Object({
  format: t.Literal(1),
  id: t.String(),
  kind: BackupKind,
  created_at: t.String(),
  version: t.String({ description: "Version of Footfall that made the backup." }),
  catalog: t.Union([t.Literal("file"), t.Literal("remote")], {
    description: "Location of the catalog: `file` in the data folder, or `remote` on a server, which must be backed up there.",
  }),
  schemas: t.Object({ catalog: t.Array(t.String()), events: t.Array(t.String()) }),
  rows: t.Object({ catalog: Counts, events: Counts }),
  events_by_site: Counts,
  files: Files,
  verified_at: t.Union([t.String(), t.Null()], { description: "Time at which the backup last passed its verification. null before that." }),
  failed_at: t.Union([t.String(), t.Null()], { description: "Time at which the backup failed its verification. null otherwise." }),
  label: t.Optional(t.String({ description: "Label that the creator of the backup entered." })),
  sealed: t.Optional(
    t.Object(
      {
        ...{ kdf: t.Literal("argon2id"), salt: t.String(), memory_kib: t.Integer(), passes: t.Integer(), check: t.String() },
        files: Files,
      },
      {
        description: "Parameters of the encryption with a passphrase, and the encrypted files. Absent for a backup that is not encrypted.",
      },
    ),
  ),
})
export type Manifest = Static<typeof Manifest>

/** A backup folder whose manifest is missing or damaged. It can only be deleted. */
export interface DamagedBackup {
  /** Name of the folder. */
  id: string
  /** Time in the folder's name, otherwise the time of the folder's last change. */
  created_at: string
  bytes: number
  /** Description of the damage, as a sentence. */
  damage: string
}

/** Names of the files that a backup may contain in addition to its manifest. */
const STORED_FILES = ["catalog.db", "events.db", "catalog.db.sealed", "events.db.sealed"]

const manifestPath = (folder: string): string => join(folder, "manifest.json")

/** Lists finished backups, oldest first, each under the name of its folder. */
export const listBackups = (dataDir: string): Manifest[] =>
  backupNames(dataDir)
    .map((id) => ({ id, manifest: manifestIn(join(placesIn(dataDir).backups, id)) }))
    .flatMap(({ id, manifest }) => (manifest ? [{ ...manifest, id }] : []))
    .sort(byAge)

/** Lists the folders among the backups that hold files of a backup and no manifest that can be read, oldest first. */
export const listDamagedBackups = (dataDir: string): DamagedBackup[] =>
  backupNames(dataDir)
    .filter((id) => !manifestIn(join(placesIn(dataDir).backups, id)))
    .map((id) => describeDamage(join(placesIn(dataDir).backups, id), id))
    .sort(byAge)

const byAge = (left: { created_at: string }, right: { created_at: string }): number => left.created_at.localeCompare(right.created_at)

function backupNames(dataDir: string): string[] {
  const { backups } = placesIn(dataDir)
  const names = existsSync(backups) ? readdirSync(backups) : []
  return names.filter((name) => !name.startsWith(".") && holdsBackup(join(backups, name)))
}

const holdsBackup = (folder: string): boolean =>
  [manifestPath(folder), ...STORED_FILES.map((name) => join(folder, name))].some((path) => existsSync(path))

function describeDamage(folder: string, id: string): DamagedBackup {
  const stored = STORED_FILES.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
  const state = existsSync(manifestPath(folder)) ? "damaged" : "missing"
  return {
    id,
    created_at: momentOf(id) ?? new Date(statSync(folder).mtimeMs).toISOString(),
    bytes: stored.reduce((sum, bytes) => sum + bytes, 0),
    damage: `manifest.json is ${state}, so the backup cannot be checked or restored.`,
  }
}

/** Returns the time in an id such as `20261121T030000Z-daily`. */
function momentOf(id: string): string | undefined {
  const [, date, time] = /^(\d{8})T(\d{6})Z-/.exec(id) ?? []
  if (!date || !time) return undefined
  const at = Date.parse(`${date.replace(/(....)(..)/, "$1-$2-")}T${time.replace(/(..)(..)/, "$1:$2:")}Z`)
  return Number.isFinite(at) ? new Date(at).toISOString() : undefined
}

/** Returns the folder of a backup, damaged or not, given its id or a path. */
export function findBackup(dataDir: string, idOrPath: string): string | undefined {
  const inside = join(placesIn(dataDir).backups, idOrPath)
  return [inside, idOrPath].find((path) => holdsBackup(path))
}

/** Returns the folder of a backup, damaged or not, given its id or a path. Throws if there is none. */
export function backupFolder(dataDir: string, idOrPath: string): string {
  const folder = findBackup(dataDir, idOrPath)
  if (folder === undefined)
    throw new ExitFault("damaged", `There is no backup ${idOrPath}: footfall backup list shows those in ${placesIn(dataDir).backups}`)
  return folder
}

/** Parses a manifest. Returns undefined for damaged or other content. */
export function manifestOf(text: string): Manifest | undefined {
  try {
    const manifest: unknown = JSON.parse(text)
    const isOurs = Value.Check(Manifest, manifest) && [manifest.created_at, manifest.verified_at, manifest.failed_at].every(isMoment)
    return isOurs ? manifest : undefined
  } catch {
    return undefined
  }
}

const isMoment = (text: string | null): boolean => text === null || Number.isFinite(Date.parse(text))

export function readManifest(folder: string): Manifest {
  const manifest = manifestIn(folder)
  if (manifest) return manifest
  throw new ForeignFile(`${manifestPath(folder)} is not a backup manifest that this version can read`)
}

/** Reads a manifest. Returns undefined also for a file that cannot be read, because a disk may damage single files. */
function manifestIn(folder: string): Manifest | undefined {
  try {
    return manifestOf(readFileSync(manifestPath(folder), "utf8"))
  } catch {
    return undefined
  }
}

export function writeManifest(folder: string, manifest: Manifest): void {
  replaceFile(manifestPath(folder), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Returns the files of a backup as stored in its folder. */
export const storedFiles = ({ files, sealed }: Manifest): Manifest["files"] => sealed?.files ?? files

/** Creates the folder of an unfinished backup. It is not listed until it is renamed. */
export function beginFolder(dataDir: string, id: string): string {
  const { backups } = placesIn(dataDir)
  const folder = join(backups, `.tmp-${id}`)
  const isFirst = !existsSync(backups)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Without its own entry on the disk, a power cut would take the folder of all backups with it.
  if (isFirst) syncPath(dataDir)
  return folder
}

/** Publishes a finished folder as a backup by renaming it. */
export function publishFolder(dataDir: string, temporary: string, id: string): void {
  const { backups } = placesIn(dataDir)
  renameSync(temporary, join(backups, id))
  syncPath(backups)
}

/** Removes unfinished files and folders that a crash left behind. Called by `finishInterrupted` before any backup is made. */
export function removeUnfinished(dataDir: string): void {
  const { backups, swap, run, key, node } = placesIn(dataDir)
  for (const path of [swap, run, key, node]) rmSync(freshFile(path), { force: true })
  for (const [folder, prefixes] of [
    [dataDir, [".restore-", PROBE]],
    [backups, [".tmp-"]],
  ] as const) {
    const names = existsSync(folder) ? readdirSync(folder) : []
    const left = names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    for (const name of left) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** Returns an unused id such as `20261121T030000Z-daily`, with a number if that second has one already. */
export function freeId(dataDir: string, now: number, kind: BackupKind): string {
  const base = `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z-${kind}`
  for (let number = 1; ; number++) {
    const id = number === 1 ? base : `${base}-${number}`
    if (!existsSync(join(placesIn(dataDir).backups, id))) return id
  }
}

export interface KeepRules {
  daily: number
  weekly: number
}

const DAY = 86_400_000
/** Maximum age of a backup. Erased data has disappeared from all backups after this time. */
const MAX_AGE = 35 * DAY

/** Returns whether a backup exceeds the maximum age. Only the newest good backup is kept longer. */
export const isTooOld = ({ created_at }: { created_at: string }, now: number): boolean => now - Date.parse(created_at) > MAX_AGE

/** Returns the ids of expired backups. The newest good backup always remains. */
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
  return backups.filter((backup) => !kept.has(backup) || (backup !== good[0] && isTooOld(backup, now))).map(({ id }) => id)
}

const isSafety = ({ kind }: Manifest): boolean => kind === "migration" || kind === "restore"
const dayOf = ({ created_at }: Manifest): string => created_at.slice(0, 10)
/** Returns the number of the week, starting on Monday. 1 January 1970 was a Thursday. */
const weekOf = ({ created_at }: Manifest): string => String(Math.floor((Date.parse(created_at) / DAY + 3) / 7))

function newestOfEach(newestFirst: readonly Manifest[], slot: (backup: Manifest) => string): Manifest[] {
  const seen = new Map<string, Manifest>()
  for (const backup of newestFirst) if (!seen.has(slot(backup))) seen.set(slot(backup), backup)
  return [...seen.values()]
}
