import { AppError, type Console, failures, type Host, leaveUnread, NoQuery, readNothing, readOptionalJson, Sent } from "#plugin"
import { BODIES } from "./bodies.ts"
import { begin } from "./jobs.ts"
import { BackupListResponse, BackupResponse, JobResponse, PlanResponse } from "./operation-responses.ts"
import { fileHeaders, operation, rawResponse, streamed } from "./routing.ts"

/** Routes for backups of both stores. */
export const backupRoutes = (host: Host) => {
  const { backups } = host.services.console
  type Params = Record<string, string | undefined>
  const find = async ({ id }: Params) => void (await backups.find(id))

  return host
    .instanceRouter()
    .get(
      "/admin/backups",
      async () => {
        const { backups: all, bucketError } = await backups.list()
        return { data: all.map(formatBackup), ...(bucketError !== undefined && { bucket_error: bucketError }) }
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        response: {
          200: BackupListResponse,
        },
        detail: operation("List backups"),
      },
    )
    .post("/admin/backups", ({ actor, ...call }) => begin(host, call, (alongside) => backups.create(actor, call.body.value, alongside)), {
      instanceAdmin: { read: readOptionalJson(64 << 10) },
      query: NoQuery,
      body: Sent,
      response: { 202: JobResponse },
      detail: { ...operation("Create a backup", BODIES.backup), ...failures("backup_running", "restore_running", "not_enough_space") },
    })
    .post(
      "/admin/backups/upload",
      async ({ actor, request, set }) => {
        const manifest = await backups.upload(actor, await archiveOf(request))
        set.status = 201
        set.headers.location = `/api/private/admin/backups/${manifest.id}`
        return formatBackup(await backups.get(manifest.id))
      },
      {
        // A form can be sent from other origins, so the route requires a recent proof and the same origin.
        instanceAdmin: { sudo: true, multipart: true, read: leaveUnread },
        query: NoQuery,
        response: { 201: BackupResponse },
        detail: {
          ...operation("Upload a backup as a tar archive"),
          ...failures("backup_corrupt", "backup_too_new", "backup_foreign", "not_enough_space", "body_too_large", "validation_failed"),
        },
      },
    )
    .get("/admin/backups/:id", async ({ params }) => formatBackup(await backups.find(params.id)), {
      instanceAdmin: { find },
      query: NoQuery,
      response: { 200: BackupResponse },
      detail: operation("Get a backup"),
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
        detail: {
          ...operation("Download a backup as a tar archive"),
          ...failures("backup_running", "backup_corrupt", "invalid_state"),
          ...rawResponse("application/x-tar"),
        },
      },
    )
    .post(
      "/admin/backups/:id/verify",
      ({ actor, params, ...call }) => begin(host, call, (alongside) => backups.verify(actor, params.id, call.body.value, alongside)),
      {
        instanceAdmin: { find, read: readOptionalJson(64 << 10) },
        query: NoQuery,
        body: Sent,
        response: { 202: JobResponse },
        detail: { ...operation("Verify a backup", BODIES.verification), ...failures("backup_running", "backup_corrupt") },
      },
    )
    .post(
      "/admin/backups/:id/restore",
      ({ actor, params, ...call }) => begin(host, call, (alongside) => backups.restore(actor, params.id, call.body.value, alongside)),
      {
        instanceAdmin: { find, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 202: JobResponse },
        detail: {
          ...operation("Restore a backup", BODIES.restore),
          ...failures(
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
        instanceAdmin: { find, sudo: true, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Delete a backup"), ...failures("backup_running", "restore_running") },
      },
    )
}

/** Routes for the schedule of automatic backups, the number of backups to keep, and their target. */
export const backupScheduleRoutes = (host: Host) => {
  const { backupSchedule } = host.services.console
  const plan = async () => ({ ...(await backupSchedule.shown()), source: backupSchedule.source() })

  return host
    .instanceRouter()
    .get("/admin/backups/schedule", () => plan(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: PlanResponse },
      detail: operation("Get the backup schedule"),
    })
    .put(
      "/admin/backups/schedule",
      async ({ actor, body }) => {
        await backupSchedule.change(actor, body.value)
        return plan()
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 200: PlanResponse },
        detail: {
          ...operation("Update the backup schedule", BODIES.backupSchedule),
          ...failures("set_elsewhere", "blocked_address", "outbound_disabled"),
        },
      },
    )
}

const UPLOAD_BYTES = 190 << 20

/** Returns the uploaded archive: the body itself, or the file of a form. */
async function archiveOf(request: Request): Promise<AsyncIterable<Uint8Array>> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
  if (Number(request.headers.get("content-length")) > UPLOAD_BYTES)
    throw new AppError("body_too_large", `An upload can have at most ${UPLOAD_BYTES} bytes. Copy larger backups into the data folder.`, {
      limit_bytes: UPLOAD_BYTES,
    })
  if (type === "application/x-tar" && request.body) return request.body as unknown as AsyncIterable<Uint8Array> // a stream can be iterated
  if (type !== "multipart/form-data")
    throw new AppError("unsupported_media_type", "Send the archive as application/x-tar, or as the field file of a form.")
  const form = await request.formData().catch(() => undefined)
  const file = form?.get("file")
  if (!(file instanceof Blob))
    throw new AppError("validation_failed", "1 field is not valid.", {
      errors: [{ pointer: "/file", code: "required", detail: "is required." }],
    })
  return file.stream() as unknown as AsyncIterable<Uint8Array> // a stream can be iterated
}

type Listed = Awaited<ReturnType<Console["backups"]["find"]>>

/** Returns a backup in the data folder or in the bucket as a response. */
function formatBackup(backup: Listed): BackupResponse {
  if ("damage" in backup) return formatDamaged(backup)
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

/** The contents of a damaged backup are unknown. */
const formatDamaged = ({ id, created_at, bytes, damage }: Extract<Listed, { damage: string }>): BackupResponse => ({
  ...{ id, label: null, kind: "unknown", created_at, bytes, target: "local", includes: [], encrypted: false },
  ...{ state: "damaged", verified_at: null, version: "", schemas: { catalog: [], events: [] }, note: damage },
})
