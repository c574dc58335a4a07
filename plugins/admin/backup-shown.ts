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
    state: t.String({ description: "verified, unverified or failed" }),
    verified_at: orNull(Instant),
    version: t.String(),
    schemas: t.Object({ catalog: t.Array(t.String()), events: t.Array(t.String()) }),
    note: t.Optional(t.String()),
  },
  { title: "Backup" },
)

type Manifest = Awaited<ReturnType<Console["backups"]["get"]>>

/** A backup, wherever it lies. */
export function shownBackup(manifest: Manifest): Static<typeof BackupShown> {
  const {
    id,
    label = null,
    kind,
    created_at,
    sealed,
    files,
    verified_at,
    failed_at,
    version,
    schemas,
    catalog,
    target,
    includes,
  } = manifest
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
    ...(catalog === "remote" && { note: "The catalog is on a server, which has backups of its own." }),
  }
}
