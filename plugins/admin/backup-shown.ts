import { type Static, Type as t } from "@sinclair/typebox"
import { type Console, Instant, orNull } from "#plugin"

export const BackupShown = t.Object(
  {
    id: t.String(),
    label: orNull(t.String()),
    kind: t.String(),
    created_at: Instant,
    bytes: t.Integer(),
    target: t.String(),
    includes: t.Array(t.String()),
    encrypted: t.Boolean(),
    state: t.String({ description: "`verified`, `unverified`, `failed` (its last check) or `damaged` (its manifest cannot be read)" }),
    verified_at: orNull(Instant),
    version: t.String(),
    schemas: t.Object({ catalog: t.Array(t.String()), events: t.Array(t.String()) }),
    note: t.Optional(t.String()),
  },
  { title: "Backup" },
)

type Listed = Awaited<ReturnType<Console["backups"]["find"]>>

/** A backup, wherever it lies. */
export function shownBackup(backup: Listed): Static<typeof BackupShown> {
  if ("damage" in backup) return shownDamage(backup)
  const { id, label = null, kind, created_at, sealed, files, verified_at, failed_at, version, schemas, catalog, target, includes } = backup
  return {
    id,
    label,
    kind,
    created_at,
    bytes: (sealed?.files ?? files).reduce((sum, { bytes }) => sum + bytes, 0),
    target,
    includes,
    encrypted: sealed !== undefined,
    state: failed_at ? "failed" : verified_at ? "verified" : "unverified",
    verified_at,
    version,
    schemas,
    ...(catalog === "remote" && { note: "The catalog is on a database server and not part of this backup. Back it up there." }),
  }
}

/** Nothing is known of what it holds. */
const shownDamage = ({ id, created_at, bytes, damage }: Extract<Listed, { damage: string }>): Static<typeof BackupShown> => ({
  ...{ id, label: null, kind: "unknown", created_at, bytes, target: "local", includes: [], encrypted: false },
  ...{ state: "damaged", verified_at: null, version: "", schemas: { catalog: [], events: [] }, note: damage },
})
