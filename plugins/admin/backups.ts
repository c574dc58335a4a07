import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Console, type Host, leaveUnread, readOptionalJson } from "#plugin"
import { JobShown, jobShown } from "./jobs.ts"
import { answers, refuses, SENT } from "./sent.ts"
import { fileHeaders, Instant, NoQuery, orNull, Sent, says, streamed } from "./shapes.ts"

const BackupShown = t.Object(
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
const PlanShown = t.Object({
  cron: orNull(t.String()),
  keep: t.Object({ daily: t.Integer(), weekly: t.Integer() }),
  target: t.String(),
  source: t.String(),
})
const UPLOAD_BYTES = 190 << 20

/** Backups of both stores. */
export const backupRoutes = (host: Host) => {
  const { backups, backupSchedule } = host.services.console
  const shownPlan = () => ({ ...backupSchedule.current(), target: "local", source: backupSchedule.source() })
  type Params = Record<string, string | undefined>
  const find = async ({ id }: Params) => void backups.get(id)

  return host
    .instanceRouter()
    .get("/admin/backups", async () => ({ data: (await backups.list()).map((manifest) => shown(backups, manifest)) }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(BackupShown) }) },
      detail: says("List backups"),
    })
    .post("/admin/backups", async ({ actor, body, set }) => accepted(host, set, await backups.create(actor, body.value)), {
      instanceAdmin: { read: readOptionalJson(64 << 10) },
      query: NoQuery,
      body: Sent,
      response: { 202: JobShown },
      detail: { ...says("Make a backup", SENT.backup), ...refuses("backup_running", "restore_running", "not_enough_space") },
    })
    .post(
      "/admin/backups/upload",
      async ({ actor, request, set }) => {
        const manifest = await backups.upload(actor, await archiveOf(request))
        set.status = 201
        set.headers.location = `/api/private/admin/backups/${manifest.id}`
        return shown(backups, manifest)
      },
      {
        // Also as a form: a fresh proof and the own origin are asked for.
        instanceAdmin: { sudo: true, multipart: true, read: leaveUnread },
        query: NoQuery,
        response: { 201: BackupShown },
        detail: {
          ...says("Take a backup that was downloaded, as a tar archive"),
          ...refuses("backup_corrupt", "backup_too_new", "backup_foreign", "not_enough_space", "body_too_large", "validation_failed"),
        },
      },
    )
    .get("/admin/backups/schedule", () => shownPlan(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: PlanShown },
      detail: says("When backups are made by themselves"),
    })
    .put(
      "/admin/backups/schedule",
      async ({ actor, body }) => {
        await backupSchedule.change(actor, body.value)
        return shownPlan()
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 200: PlanShown },
        detail: { ...says("Change when backups are made, and how many are kept", SENT.backupSchedule), ...refuses("set_elsewhere") },
      },
    )
    .get("/admin/backups/:id", ({ params }) => shown(backups, backups.get(params.id)), {
      instanceAdmin: { find },
      query: NoQuery,
      response: { 200: BackupShown },
      detail: says("Read a backup"),
    })
    .get(
      "/admin/backups/:id/download",
      async ({ actor, params }) => {
        const { name, bytes, stream } = await backups.download(actor, params.id)
        return new Response(streamed(stream), { headers: { ...fileHeaders("application/x-tar", name), "content-length": String(bytes) } })
      },
      {
        instanceAdmin: { find, sudo: true },
        query: NoQuery,
        detail: { ...says("A backup as one tar archive"), ...refuses("backup_running"), ...answers("application/x-tar") },
      },
    )
    .post(
      "/admin/backups/:id/verify",
      async ({ actor, params, body, set }) => accepted(host, set, await backups.verify(actor, params.id, body.value)),
      {
        instanceAdmin: { find, read: readOptionalJson(64 << 10) },
        query: NoQuery,
        body: Sent,
        response: { 202: JobShown },
        detail: { ...says("Check a backup again", SENT.verification), ...refuses("backup_running") },
      },
    )
    .post(
      "/admin/backups/:id/restore",
      async ({ actor, params, body, set }) => accepted(host, set, await backups.restore(actor, params.id, body.value)),
      {
        instanceAdmin: { find, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 202: JobShown },
        detail: {
          ...says("Put a backup in the place of the present stores", SENT.restore),
          ...refuses(
            "backup_corrupt",
            "backup_too_new",
            "backup_foreign",
            "wrong_passphrase",
            "not_enough_space",
            "backup_running",
            "restore_running",
          ),
        },
      },
    )
    .delete(
      "/admin/backups/:id",
      async ({ actor, params, status }) => {
        await backups.remove(actor, params.id)
        return status(204, undefined)
      },
      {
        instanceAdmin: { find, sudo: true, read: leaveUnread },
        query: NoQuery,
        detail: { ...says("Delete a backup"), ...refuses("backup_running", "restore_running") },
      },
    )
}

/** The archive itself, or the one file of a form. */
async function archiveOf(request: Request): Promise<AsyncIterable<Uint8Array>> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (Number(request.headers.get("content-length")) > UPLOAD_BYTES)
    throw new AppError("body_too_large", `An upload may have ${UPLOAD_BYTES} bytes: put larger ones into the data folder.`, {
      limit_bytes: UPLOAD_BYTES,
    })
  if (type === "application/x-tar" && request.body) return request.body as unknown as AsyncIterable<Uint8Array> // a stream can be iterated
  if (type !== "multipart/form-data")
    throw new AppError("unsupported_media_type", "Send the archive as application/x-tar, or as the field file of a form.")
  const form = await request.formData().catch(() => undefined)
  const file = form?.get("file")
  if (!(file instanceof Blob))
    throw new AppError("validation_failed", "1 field is not valid.", {
      errors: [{ pointer: "/file", code: "required", detail: "file is required." }],
    })
  return file.stream() as unknown as AsyncIterable<Uint8Array> // the same
}

function accepted(host: Host, set: { status?: number | string; headers: Record<string, unknown> }, job: Parameters<typeof jobShown>[1]) {
  set.status = 202
  set.headers.location = `/api/private/admin/jobs/${job.id}`
  return jobShown(host, job)
}

type Manifest = ReturnType<Console["backups"]["get"]>

function shown(backups: Console["backups"], manifest: Manifest): Static<typeof BackupShown> {
  const { id, label = null, kind, created_at, sealed, files, verified_at, failed_at, version, schemas, catalog } = manifest
  return {
    id,
    label,
    kind,
    created_at,
    bytes: (sealed?.files ?? files).reduce((sum, { bytes }) => sum + bytes, 0),
    target: "local",
    includes: backups.includes(manifest),
    encrypted: sealed !== undefined,
    state: failed_at ? "failed" : verified_at ? "verified" : "unverified",
    verified_at,
    version,
    schemas,
    ...(catalog === "remote" && { note: "The catalog is on a server, which has backups of its own." }),
  }
}
